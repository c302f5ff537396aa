import { providerOf, say, story, type WireClient } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Nodes, openClusterWorld } from './cluster-world.js';

/** The `groundcrew.js` of an older version, built; without it nothing is tried here. */
const older = process.env.OLDER_GROUNDCREW;
const world = older ? await openClusterWorld() : undefined;
afterAll(() => world?.close());

describe.skipIf(!world)('an older and this version on one database', { timeout: 60_000 }, () => {
  if (!world || !older) return;
  let nodes: Nodes;
  beforeEach(async () => {
    nodes = new Nodes({ store: await world.postgres.newSchema(), nats: world.nats.url });
  });
  afterEach(() => nodes.close());

  /** Sessions of both nodes, used from both, then one node leaves and the other goes on with all of them. */
  async function roll([first, second]: readonly (string | undefined)[]): Promise<void> {
    const startWith = (program: string | undefined) => nodes.start(program === undefined ? {} : { program });
    const leaving = await startWith(first);
    const before = await nodes.connect(leaving);
    const model = world?.api.script(...Array.from({ length: 12 }, (_, index) => say(`answer ${index}`)));
    if (!model) return;
    const settings = providerOf(model);
    const early = await before.create(settings);
    await early.turn('Before the other came');
    const staying = await startWith(second);
    const after = await nodes.connect(staying);
    const theirs = await after.resume(early.sessionId, settings);
    await theirs.turn('From the other node');
    await early.next('session.idle');
    const late = await after.create(settings);
    await late.turn('Made there');
    const back = await before.resume(late.sessionId, settings);
    await back.turn('From the first node');
    await late.next('session.idle');
    const ids = async (client: WireClient) =>
      (await client.call<{ sessions: { sessionId: string }[] }>('session.list', {})).sessions
        .map(({ sessionId }) => sessionId)
        .sort();
    expect(await ids(before)).toEqual(await ids(after));
    await before.close();
    expect(await leaving.signal('SIGTERM')).toEqual({ code: 0, signal: null });
    await theirs.turn('After it left');
    const prompts = story(await theirs.stored()).filter((line) => line.startsWith('user.message'));
    expect(prompts).toHaveLength(3);
  }

  test('the older node leaves, and this version goes on with its sessions', () => roll([older, undefined]));

  test('this version leaves, and the older node goes on with its sessions', () => roll([undefined, older]));
});
