import { lookup } from 'node:dns/promises';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '@groundcrew/store-sqlite';
import { callTools, refuse, say } from '@groundcrew/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { until } from './mcp-world.js';
import { faultOf, newSecret, Receiver, WebhooksWorld } from './webhooks-world.js';

let world: WebhooksWorld;
let receiver: Receiver;

beforeEach(async () => {
  world = new WebhooksWorld();
  receiver = new Receiver();
  await receiver.open();
});

afterEach(async () => {
  await world.stop();
  await receiver.close();
});

const asking = callTools({
  id: 'c1',
  name: 'bash',
  arguments: { command: 'echo private', description: 'x' },
});

test('an address gets signed messages that a session waits, fails and ends, with ids and reasons only', async () => {
  world.configure([{ url: receiver.url() }]);
  const client = await world.start([asking, say('What was said'), refuse(400, 'no such thing')]);
  const session = await client.create({ sessionId: 'told', requestPermission: true });
  await session.send('What was asked');
  const { data } = await session.next('permission.requested');
  await receiver.got(1);
  expect(receiver.story('told')).toEqual(['session.waiting permission']);
  const [waiting] = receiver.received;
  expect(waiting?.message).toEqual({
    type: 'session.waiting',
    timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    data: {
      sessionId: 'told',
      seq: expect.any(Number),
      reason: { kind: 'permission', requestId: data.requestId },
    },
  });
  await session.call('session.permissions.handlePendingPermissionRequest', {
    requestId: data.requestId,
    result: { kind: 'approve-once' },
  });
  await receiver.got(2);
  await session.send('Fail now');
  await receiver.got(4);
  expect(receiver.story('told').slice(1).sort()).toEqual([
    'session.ended completed',
    'session.ended error',
    'session.error failed',
  ]);
  for (const each of receiver.received) {
    expect(faultOf(each, world)).toBeUndefined();
    expect(faultOf(each, { secret: newSecret() })).toBe('forged');
    expect(faultOf({ ...each, body: each.body.replace('told', 'tolf') }, world)).toBe('forged');
    expect(faultOf(each, { secret: world.secret, now: Date.now() / 1000 + 600 })).toBe('too old');
    expect(each.body).not.toMatch(/What was|echo private|no such thing/);
  }
  const replayed = {
    ...receiver.received[0]?.headers,
    'webhook-timestamp': String(Math.floor(Date.now() / 1000) + 1),
  };
  expect(faultOf({ headers: replayed, body: receiver.received[0]?.body ?? '' }, world)).toBe('forged');
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(4);
});

test('an aborted turn ends as aborted, and an address gets only the events it asked for', async () => {
  world.configure([{ url: receiver.url('/ends'), events: ['session.ended'] }]);
  const client = await world.start([
    { type: 'after', ready: new Promise(() => undefined), reply: say('Never') },
  ]);
  const session = await client.create({ sessionId: 'stopped' });
  await session.send('Hang');
  await session.next('assistant.turn_start');
  await session.call('session.abort');
  await receiver.got(1);
  expect(receiver.story('stopped')).toEqual(['session.ended aborted']);
});

test('a message that was not answered when the server was killed is sent again under its id', async () => {
  world.configure([{ url: receiver.url(), timeout: 1 }]);
  receiver.answer = () => undefined;
  const client = await world.start([say('Done')]);
  await (await client.create({ sessionId: 'cut' })).turn('Hello');
  await receiver.got(1);
  await world.process.signal('SIGKILL');
  receiver.answer = (_received, response) => void response.writeHead(200).end();
  await world.start();
  await receiver.got(2);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(ids).toEqual([ids[0], ids[0]]);
  expect(receiver.received.map((each) => faultOf(each, world))).toEqual([undefined, undefined]);
}, 30_000);

test('a record that was stored, and not yet in the outbox when the server was killed, is sent by the next one', async () => {
  world.configure([{ url: receiver.url() }]);
  const client = await world.start([say('Done')]);
  const session = await client.create({ sessionId: 'window' });
  // Nothing can be written down: the log goes on, and the message is in the memory of the server only.
  const database = openDatabase(world.outbox);
  database.exec('BEGIN IMMEDIATE');
  await session.turn('Hello');
  await world.process.signal('SIGKILL');
  expect(receiver.received).toEqual([]);
  database.exec('ROLLBACK');
  database.close();
  await world.start();
  await receiver.got(1);
  expect(receiver.story('window')).toEqual(['session.ended completed']);
}, 30_000);

test('a receiver that is down, fails or is slow gets each message later, under the same id', async () => {
  world.configure([{ url: receiver.url(), timeout: 1, retry: [1, 1, 1, 1] }]);
  await receiver.close();
  const client = await world.start([say('One')]);
  await (await client.create({ sessionId: 'later' })).turn('Hello');
  await until(() => world.process.stderr.includes('failed and is tried again: ECONNREFUSED'));
  let calls = 0;
  receiver.answer = (_received, response) => {
    calls += 1;
    if (calls === 1) response.writeHead(500).end();
    if (calls > 2) response.writeHead(204).end();
  };
  await receiver.open();
  await receiver.got(3);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
  const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
  expect(times).toEqual([...times].sort());
  expect(receiver.received.map((each) => faultOf(each, world))).toEqual([undefined, undefined, undefined]);
}, 30_000);

test('a receiver that answers with another protocol, or with nothing, holds up neither later messages nor the end of the server', async () => {
  world.configure([{ url: receiver.url(), timeout: 2, retry: [1, 1, 1] }]);
  const odd = [
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    'HTTP/1.1 100 Continue\r\n\r\n',
  ];
  receiver.answer = (_received, response) => {
    const line = odd.shift();
    if (line === undefined) response.writeHead(204).end();
    else response.socket?.write(line);
  };
  const client = await world.start([say('One')]);
  await (await client.create({ sessionId: 'odd' })).turn('Hello');
  await receiver.got(3);
  const ids = receiver.received.map(({ headers }) => headers['webhook-id']);
  expect(new Set(ids).size).toBe(1);
  receiver.answer = (_received, response) =>
    void response.socket?.write(
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
    );
  await client.connection.close();
  expect(await world.process.signal('SIGTERM')).toMatchObject({ code: 0 });
}, 30_000);

test('a receiver that leaves some messages without an answer gets the others at once', async () => {
  world.configure([{ url: receiver.url(), timeout: 60 }]);
  receiver.answer = (_received, response) => {
    if (receiver.received.length > 3) response.writeHead(204).end();
  };
  const client = await world.start(Array.from({ length: 8 }, (_, index) => say(`${index}`)));
  const session = await client.create({ sessionId: 'some' });
  for (const index of Array.from({ length: 8 }).keys()) await session.turn(`Turn ${index}`);
  await receiver.got(8);
  expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(8);
});

test('answers without end, cut off, too long or in another language delay no others, and a date to come back at is respected', async () => {
  const wire: Readonly<Record<string, (socket: Socket) => void>> = {
    '/endless': (socket) => {
      const flood = () => {
        while (!socket.destroyed && socket.write('x'.repeat(65_536)));
      };
      socket.write('HTTP/1.1 200 OK\r\ncontent-length: 999999999999\r\n\r\n');
      socket.on('drain', flood);
      flood();
    },
    '/cut': (socket) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf'),
    '/garbage': (socket) => void socket.end('220 mail.example ESMTP\r\n'),
    '/headers': (socket) => void socket.end(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
  };
  const [one, two] = [newSecret(), newSecret()];
  const both = join(world.home.path, 'two-secrets');
  writeFileSync(both, `${one}\n${two}\n`, { mode: 0o600 });
  world.configure([
    ...Object.keys(wire).map((path) => ({ url: receiver.url(path), retry: [] })),
    { url: receiver.url('/later'), retry: [0], secretFile: both },
  ]);
  let later = 0;
  receiver.answer = ({ path }, response) => {
    if (path !== '/later') return wire[path]?.(response.socket as Socket);
    later += 1;
    const date = new Date(Date.now() + 2_000).toUTCString();
    return void response.writeHead(later === 1 ? 503 : 204, { 'retry-after': date }).end();
  };
  const client = await world.start([say('One'), say('Two')]);
  const session = await client.create({ sessionId: 'odd' });
  await session.turn('Hello');
  await receiver.got(5);
  await session.turn('Again');
  await receiver.got(11);
  const counts = Object.fromEntries(
    [...Object.keys(wire), '/later'].map((path) => [
      path,
      receiver.received.filter((each) => each.path === path).length,
    ]),
  );
  expect(counts).toEqual({ '/endless': 2, '/cut': 2, '/garbage': 2, '/headers': 2, '/later': 3 });
  // What came back as a success is not sent again; the rest is given up, and that is said of each.
  await until(() => world.process.stderr.match(/is given up after 1 attempts/g)?.length === 4);
  const rotated = receiver.received.filter(({ path }) => path === '/later');
  for (const each of rotated)
    expect([one, two, world.secret].map((secret) => faultOf(each, { secret }))).toEqual([
      undefined,
      undefined,
      'forged',
    ]);
  const again = rotated.filter(({ message }) => message.data.seq === rotated[0]?.message.data.seq);
  const [first = 0, second = 0] = again.map(({ headers }) => Number(headers['webhook-timestamp']));
  expect(second - first).toBeGreaterThanOrEqual(1);
}, 30_000);

test('a receiver that is gone for good gets no more, and what fails too often is given up', async () => {
  world.configure([
    { url: receiver.url('/gone') },
    { url: receiver.url('/broken'), retry: [1] },
    { url: receiver.url('/redirect'), retry: [] },
  ]);
  receiver.answer = ({ path }, response) => {
    const status = { '/gone': 410, '/broken': 503, '/redirect': 302 }[path] ?? 404;
    response.writeHead(status, { location: receiver.url('/elsewhere') }).end();
  };
  const client = await world.start([say('One'), say('Two')]);
  const session = await client.create({ sessionId: 'gone' });
  await session.turn('Hello');
  const { process } = world;
  await until(() => /wants no more webhooks \(410\)/.test(process.stderr));
  await until(() => /is given up after 2 attempts/.test(process.stderr));
  await until(() => /is given up after 1 attempts/.test(process.stderr));
  await session.turn('Again');
  const paths = () => receiver.received.map(({ path }) => path);
  await until(() => paths().filter((each) => each === '/redirect').length === 2);
  expect(paths().filter((each) => each === '/gone')).toEqual(['/gone']);
  expect(paths()).not.toContain('/elsewhere');
  expect(process.stderr).not.toContain(world.secret);
}, 30_000);

const privateName = await nameOfPrivateAddress();
if (privateName === undefined)
  console.warn('skipped, webhooks to private names: this machine has no such name');

test.skipIf(privateName === undefined)(
  'a name that leads to a private address is not asked unless the operator allows it',
  async () => {
    const url = `https://${privateName}:${new URL(receiver.url()).port}`;
    world.configure([
      { url: `${url}/no`, retry: [60] },
      { url: `${url}/yes`, retry: [60], allowPrivate: true },
    ]);
    const client = await world.start([say('One')]);
    await (await client.create()).turn('Hello');
    const tried = () => world.process.stderr.match(/is tried again: .*/g) ?? [];
    await until(() => tried().length === 2);
    const [blocked, asked] = [...tried()].sort((one) => (one.includes('not public') ? -1 : 1));
    expect(blocked).toContain('it leads to an address that is not public');
    // It was reached, and speaks no TLS.
    expect(asked).toMatch(/EPROTO|ERR_SSL|ECONN|hang up|wrong version/);
    expect(receiver.received).toEqual([]);
  },
);

test('settings that would send to the wrong receivers are refused before a port is open', async () => {
  const refusal = async (entry: Record<string, unknown>) => {
    world.configure([entry]);
    await world.start().catch(() => undefined);
    await world.process.exited;
    return world.process.stderr;
  };
  expect(await refusal({ url: 'http://example.com/hook' })).toContain('needs https');
  expect(await refusal({ url: 'https://user:word@example.com/' })).toContain('has a user or a password');
  expect(await refusal({ url: receiver.url(), follow: true })).toContain('webhooks[0].follow: unknown field');
  expect(await refusal({ url: receiver.url(), secretVariable: 'X' })).toContain('not both');
  const open = join(world.home.path, 'open-secret');
  writeFileSync(open, newSecret(), { mode: 0o644 });
  expect(await refusal({ url: receiver.url(), secretFile: open })).toContain('may be read by others');
  const short = join(world.home.path, 'short-secret');
  writeFileSync(short, 'whsec_c2hvcnQ=', { mode: 0o600 });
  const error = await refusal({ url: receiver.url(), secretFile: short });
  expect(error).toContain('24 to 64 bytes');
  expect(error).not.toContain('c2hvcnQ');
}, 30_000);

test('without the setting nothing is loaded and no file is made; the secret is in no file of the home but its own', async () => {
  const plain = await world.start([say('One')]);
  await (await plain.create()).turn('Hello');
  expect(existsSync(world.outbox)).toBe(false);
  await world.process.stop();
  world.configure([{ url: receiver.url() }]);
  const client = await world.start([say('Two')]);
  await (await client.create()).turn('Hello');
  await receiver.got(1);
  await world.process.stop();
  for (const name of ['webhooks.db', 'groundcrew.db', 'config.json'])
    expect(readFileSync(join(world.home.path, name), 'latin1')).not.toContain(world.secret.slice(6, 30));
});

/** A name of this machine that is not written as such, and leads to no public address. */
async function nameOfPrivateAddress(): Promise<string | undefined> {
  for (const name of [hostname(), 'ip6-localhost', 'localhost.localdomain'])
    try {
      const { address } = await lookup(name);
      if (/^(?:127\.|10\.|192\.168\.|172\.(?:1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe80)/.test(address)) return name;
    } catch {
      // There is no such name here.
    }
  return undefined;
}
