import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RuntimeProcess, say, type WireClient } from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { Nodes, openClusterWorld } from './cluster-world.js';

const world = await openClusterWorld();
afterAll(() => world?.close());

describe.skipIf(!world)('nodes with homes of their own', { timeout: 60_000 }, () => {
  if (!world) return;
  let nodes: Nodes;
  beforeEach(async () => {
    nodes = new Nodes({ store: await world.postgres.newSchema(), nats: world.nats.url });
  });
  afterEach(() => nodes.close());

  test('agree on the approvals for places, also when both change them at once and one comes later', async () => {
    const processes = await Promise.all([nodes.start(), nodes.start()]);
    const clients = await Promise.all(processes.map((node) => nodes.connect(node)));
    const sessions = await Promise.all(clients.map((client) => client.create({})));
    const places = Array.from({ length: 12 }, (_, index) => `/place-${index}`);
    await Promise.all(
      places.map((locationKey, index) =>
        sessions[index % 2]?.call('session.permissions.locations.addToolApproval', {
          locationKey,
          approval: { kind: 'custom-tool', toolName: `tool-${index}` },
        }),
      ),
    );
    const bookOf = ({ options }: RuntimeProcess) => {
      const file = join(options.home, 'permissions-config.json');
      return existsSync(file) ? Object.keys(JSON.parse(readFileSync(file, 'utf8')).locations).sort() : [];
    };
    const later = await nodes.start();
    for (const node of [...processes, later])
      await expect.poll(() => bookOf(node), { timeout: 20_000 }).toEqual([...places].sort());
    expect(later.stderr).not.toContain('differ from those of the other nodes');
  });

  test('go on by the log, its limits and its prompts; files of the session stay with the node that had them', async () => {
    const model = world.api.script(say('one'), say('two'), say('three'), say('never'));
    const environment = { GROUNDCREW_BASE_URL: model.baseUrl, GROUNDCREW_API_KEY: 'key-of-the-tests' };
    const [first, second] = await Promise.all([nodes.start({ environment }), nodes.start({ environment })]);
    const [a, b] = (await Promise.all([first, second].map((node) => nodes.connect(node)))) as [
      WireClient,
      WireClient,
    ];
    const ours = await a.create({ model: 'scripted', sessionLimits: { maxCalls: 3 } });
    await ours.turn('One');
    await ours.turn('Two');
    await ours.call('session.workspaces.createFile', { path: 'notes.md', content: 'Kept here' });
    expect(await ours.call('session.workspaces.listFiles')).toEqual({ files: ['notes.md'] });
    await a.close();
    await first.signal('SIGTERM');

    const theirs = await b.resume(ours.sessionId, {});
    const said = (await theirs.stored()).flatMap(({ type, data }) =>
      type === 'assistant.message' ? [(data as { content: string }).content] : [],
    );
    expect(said).toEqual(['one', 'two']);
    expect(await theirs.call('session.workspaces.listFiles')).toEqual({ files: [] });
    await theirs.turn('Three');
    await theirs.send('Four');
    const { data } = await theirs.next('session_limits_exhausted.requested');
    expect(data).toMatchObject({ limit: 'maxCalls', max: 3, used: 3 });
    expect(model.requests).toHaveLength(3);
  });
});
