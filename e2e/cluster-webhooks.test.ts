import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  callTools,
  RuntimeProcess,
  type ScriptedReply,
  say,
  temporaryDirectory,
  WireClient,
} from '@groundcrew/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openClusterWorld } from './cluster-world.js';
import { faultOf, newSecret, Receiver } from './webhooks-world.js';

const world = await openClusterWorld();
afterAll(() => world?.close());

/** Those that wait for the end of a lease are a part of verify:full. */
const whole = test.skipIf(process.env.CLUSTER_TESTS !== 'full');
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];

describe.skipIf(!world)('webhooks of several nodes', { timeout: 90_000 }, () => {
  if (!world) return;
  const secret = newSecret();
  let place: ReturnType<typeof temporaryDirectory>;
  let receiver: Receiver;
  let store: string;
  let nodes: RuntimeProcess[];
  let clients: WireClient[];
  beforeEach(async () => {
    place = temporaryDirectory();
    receiver = new Receiver();
    await receiver.open();
    store = await world.postgres.newSchema();
    nodes = [];
    clients = [];
  });
  afterEach(async () => {
    await Promise.all(clients.map((client) => client.close()));
    await Promise.all(nodes.map((node) => node.stop()));
    await receiver.close();
    place.remove();
  });

  const start = async (...replies: ScriptedReply[]) => {
    const { baseUrl } = world.api.script(...replies);
    const secretFile = join(place.path, 'secret');
    writeFileSync(secretFile, secret, { mode: 0o600 });
    const webhooks = [
      { url: receiver.url(), secretFile, timeout: 1, retry: [1, 1, 1, 1], waitingOn: ['external_tool'] },
    ];
    for (const name of ['a', 'b']) {
      const home = join(place.path, name);
      mkdirSync(home);
      writeFileSync(join(home, 'config.json'), JSON.stringify({ webhooks }), { mode: 0o600 });
      const node = new RuntimeProcess({
        flags: ['--headless', '--port', '0'],
        home,
        workingDirectory: place.path,
        environment: {
          GROUNDCREW_STORE: store,
          GROUNDCREW_NATS: world.nats.url,
          GROUNDCREW_BASE_URL: baseUrl,
          GROUNDCREW_API_KEY: 'key-of-the-tests',
          GROUNDCREW_MODEL: 'scripted',
        },
      });
      nodes.push(node);
      await node.port();
      clients.push(new WireClient(await node.connect()));
    }
    return clients as [WireClient, WireClient];
  };

  test('each message is sent once, whichever node has the session and however many listen', async () => {
    const [a, b] = await start(say('one'), say('two'), say('three'));
    const ours = await a.create();
    const theirs = await b.resume(ours.sessionId, {});
    await ours.turn('First');
    await theirs.next('session.idle');
    await theirs.turn('Second');
    await receiver.got(2);
    await a.call('session.destroy', { sessionId: ours.sessionId });
    const other = await b.create();
    await other.turn('Third');
    await receiver.got(3);
    await expect.poll(() => waiting(store)).toBe(0);
    expect(receiver.received.map(({ message }) => message.type)).toEqual(Array(3).fill('session.ended'));
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
    expect(receiver.received.map((each) => faultOf(each, { secret }))).toEqual(Array(3).fill(undefined));
  });

  whole('messages that a killed node had not sent are sent by another, under the same id', async () => {
    const [a] = await start(look, say('seen'));
    receiver.answer = () => undefined;
    const ours = await a.create({ tools });
    await ours.send('Look');
    await receiver.got(1);
    await nodes[0]?.signal('SIGKILL');
    receiver.answer = (_received, response) => void response.writeHead(204).end();
    await expect.poll(() => waiting(store), { timeout: 60_000 }).toBe(0);
    const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(ids.length).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(1);
  });

  async function waiting(url: string): Promise<number> {
    const { Client } = await import('pg');
    const client = new Client({ connectionString: url });
    await client.connect();
    const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM gc_notice');
    await client.end();
    return rows[0]?.n ?? -1;
  }
});
