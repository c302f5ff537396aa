import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, renameSync } from 'node:fs';
import { type AddressInfo, connect as connectPlain } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect, createServer, type TLSSocket } from 'node:tls';
import { byteChannel, connectTcp, webSocketChannel } from '@groundcrew/rpc';
import { RuntimeProcess, say, WireClient } from '@groundcrew/testkit';
import { afterAll, test as anyTest, beforeAll, expect } from 'vitest';
import { WebSocket } from 'ws';
import { until } from './mcp-world.js';
import { noSandbox } from './sandbox-world.js';
import { TenantsWorld, tokenOf } from './tenants-world.js';
import { tokenProtocol } from './web-world.js';

const noOpenssl = spawnSync('openssl', ['version']).status === 0 ? undefined : 'there is no openssl';
const reason = noSandbox ?? noOpenssl;
if (reason !== undefined) console.warn(`skipped, all tests of TLS: ${reason}`);
const test = anyTest.skipIf(reason !== undefined);

const world = new TenantsWorld();
const cert = join(world.home.path, 'cert.pem');
const key = join(world.home.path, 'key.pem');

beforeAll(async () => {
  if (reason !== undefined) return;
  makeCertificate('first');
  world.tokens({ mia: ['acme', 'member'], bob: ['beta', 'member'], op: ['default', 'admin'] });
  await world.start([say('Hello'), say('Hello')], ['--tls-cert', cert, '--tls-key', key]);
}, 60_000);

const relays: RuntimeProcess[] = [];
afterAll(async () => {
  await Promise.all(relays.map((relay) => relay.stop()));
  await world.stop();
});

test('by TLS 1.2 and 1.3 a token opens the sessions of its tenant', async () => {
  for (const version of ['TLSv1.2', 'TLSv1.3'] as const) {
    const socket = await secure({ minVersion: version, maxVersion: version });
    expect(socket.getProtocol()).toBe(version);
    const client = new WireClient(byteChannel({ input: socket, output: socket }));
    expect(await client.failure('session.list')).toMatchObject({ code: -32001 });
    await client.call('connect', { token: tokenOf('mia') });
    expect(await client.call('session.list')).toEqual({ sessions: [] });
    await client.connection.close();
  }
});

test('TLS 1.1 is refused by the server, and so is a stranger who sends no token', async () => {
  const old = secure({ minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' });
  await expect(old).rejects.toMatchObject({ code: 'ERR_SSL_TLSV1_ALERT_PROTOCOL_VERSION' });
  const socket = await secure();
  const stranger = new WireClient(byteChannel({ input: socket, output: socket }));
  expect(await stranger.failure('connect', { token: 'wrong' })).toMatchObject({ code: -32002 });
  await stranger.connection.close();
});

test('plain text is closed, with no answer of the protocol', async () => {
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'connect',
    params: { token: tokenOf('mia') },
  });
  const socket = connectPlain(await world.process.port(), '127.0.0.1');
  const heard: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => heard.push(chunk));
  socket.on('error', () => undefined);
  socket.write(`Content-Length: ${body.length}\r\n\r\n${body}`);
  await once(socket, 'close');
  expect(Buffer.concat(heard).toString('latin1')).not.toMatch(/jsonrpc|Content-Length/);
  const url = (await world.url()).replace(/^https:/, 'http:');
  await expect(fetch(`${url}/events?session=x`)).rejects.toThrow('fetch failed');
});

test('a WebSocket of a tenant works over TLS: its turns, its sessions only, and nothing without its token', async () => {
  const mia = await socketOf('mia');
  const session = await mia.create({ sessionId: 'by-socket' });
  await session.turn('Hello');
  const bob = await socketOf('bob');
  const op = await socketOf('op');
  const idsOf = async (client: WireClient) =>
    (await client.call<{ sessions: { sessionId: string }[] }>('session.list')).sessions.map(
      ({ sessionId }) => sessionId,
    );
  expect([await idsOf(mia), await idsOf(bob), await idsOf(op)]).toEqual([['by-socket'], [], []]);
  for (const method of ['session.resume', 'session.getMessages', 'session.send', 'session.delete']) {
    const named = { sessionId: 'by-socket', prompt: 'x' };
    const theirs = JSON.stringify(await bob.failure(method, named));
    const unknown = JSON.stringify(await bob.failure(method, { ...named, sessionId: 'by-nobody' }));
    expect([method, theirs.replaceAll('by-socket', 'by-nobody')]).toEqual([method, unknown]);
  }
  expect(await idsOf(mia)).toEqual(['by-socket']);
  await expect(socketWith('wrong')).rejects.toThrow('401');
  // A token that is taken away ends its sockets.
  world.tokens({ bob: ['beta', 'member'], op: ['default', 'admin'] });
  world.write();
  await mia.connection.closed;
  await expect(socketOf('mia')).rejects.toThrow('401');
  expect(await bob.call('ping')).toMatchObject({ message: 'pong' });
  await Promise.all([bob, op].map(({ connection }) => connection.close()));
}, 30_000);

test('a certificate that has changed on the disk is shown, and connections that are open go on', async () => {
  const socket = await secure();
  const client = new WireClient(byteChannel({ input: socket, output: socket }));
  await client.call('connect', { token: tokenOf('bob') });
  makeCertificate('second');
  let shown = '';
  const look = async () => {
    const next = await secure({ rejectUnauthorized: false });
    shown = next.getPeerCertificate().subject.CN as string;
    next.destroy();
  };
  await until(() => {
    void look().catch(() => undefined);
    return shown === 'second';
  });
  expect(await client.call('ping')).toMatchObject({ message: 'pong' });
  await client.connection.close();
}, 30_000);

test('a relay leads over TLS to a node with a certificate it trusts, for the name it was given, and to no other', async () => {
  const port = await world.process.port();
  const lead = async (...flags: string[]) => {
    const relay = new RuntimeProcess({ flags: ['relay', ...flags], home: world.home.path });
    relays.push(relay);
    return { relay, client: new WireClient(await connectTcp({ port: await relay.port() })) };
  };
  const elsewhere = createServer({ cert: readFileSync(cert), key: readFileSync(key) });
  elsewhere.listen(0, '127.0.0.2');
  await once(elsewhere, 'listening');
  const { port: otherPort } = elsewhere.address() as AddressInfo;
  const [trusted, unknown, misnamed] = await Promise.all([
    lead('--to', `tls://127.0.0.1:${port}`, '--ca', cert),
    lead('--to', `tls://127.0.0.1:${port}`),
    lead('--to', `tls://127.0.0.2:${otherPort}`, '--ca', cert),
  ]);
  await trusted.client.call('connect', { token: tokenOf('bob') });
  const session = await trusted.client.create({ sessionId: 'by-relay' });
  await session.turn('Hello');
  // Over a frame of several megabytes, both ways.
  const long = 'x'.repeat(1_500_000);
  await session.call('session.workspaces.createFile', { path: 'long.txt', content: long });
  expect(await session.call('session.workspaces.readFile', { path: 'long.txt' })).toMatchObject({
    content: long,
  });
  await Promise.all([unknown.client.connection.closed, misnamed.client.connection.closed]);
  expect(unknown.relay.stderr).toMatch(/does not answer: self-signed certificate/);
  expect(misnamed.relay.stderr).toContain('does not match certificate');
  elsewhere.close();
  // A relay that is stopped ends its connections, and itself.
  expect(await trusted.relay.signal('SIGTERM')).toMatchObject({ code: 0 });
  await trusted.client.connection.closed;
}, 30_000);

/** A certificate of this machine that signs itself, put in place whole. */
function makeCertificate(name: string): void {
  const made = spawnSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '1'],
    ...['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
    ...['-keyout', `${key}.new`, '-out', `${cert}.new`],
  ]);
  if (made.status !== 0) throw new Error(String(made.stderr));
  renameSync(`${key}.new`, key);
  renameSync(`${cert}.new`, cert);
}

async function secure(options: ConnectionOptions = {}): Promise<TLSSocket> {
  const port = await world.process.port();
  const socket = connect({ host: '127.0.0.1', port, ca: readFileSync(cert), ...options });
  await once(socket, 'secureConnect');
  return socket;
}

function socketOf(name: string): Promise<WireClient> {
  return socketWith(tokenOf(name));
}

async function socketWith(token: string): Promise<WireClient> {
  const url = (await world.url()).replace(/^https:/, 'wss:');
  const socket = new WebSocket(`${url}/rpc`, ['groundcrew', tokenProtocol(token)], {
    ca: readFileSync(cert),
  });
  await once(socket, 'open');
  const client = new WireClient(webSocketChannel({ socket }));
  return client;
}
