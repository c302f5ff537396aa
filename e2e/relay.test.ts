import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { RuntimeProcess, temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './mcp-world.js';

const home = temporaryDirectory();
const farNode = { sockets: [] as Socket[], serve: (_socket: Socket): void => undefined };
const nearNode = { sockets: [] as Socket[], serve: (_socket: Socket): void => undefined };
let far: Server;
let near: Server;
let relay: RuntimeProcess;
let port: number;

beforeAll(async () => {
  far = await listen(farNode);
  near = await listen(nearNode);
  const targets = [far, near].map((server) => `tcp://127.0.0.1:${portOf(server)}`);
  relay = new RuntimeProcess({ flags: ['relay', '--to', targets.join(',')], home: home.path });
  port = await relay.port();
});

afterAll(async () => {
  for (const { sockets } of [farNode, nearNode]) for (const socket of sockets) socket.destroy();
  far.close();
  near.close();
  await relay.stop();
  home.remove();
});

test('a client that reads slowly gets all of a large message of a node that ends behind it', async () => {
  const whole = 24 * 1024 * 1024;
  farNode.serve = (socket) => void socket.end(Buffer.alloc(whole, 'x'), () => socket.destroy());
  const client = connect(port, '127.0.0.1');
  await once(client, 'connect');
  client.pause();
  await until(() => farNode.sockets.at(-1)?.bytesWritten !== 0);
  let received = 0;
  for await (const chunk of client) received += (chunk as Buffer).length;
  expect(received).toBe(whole);
});

test('a client that has said all still gets its answer, and the node learns that no more comes', async () => {
  farNode.serve = (socket) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('end', () => socket.end(`heard ${Buffer.concat(chunks).length}`));
  };
  expect(await say(Buffer.alloc(3_000_000, 'x'))).toBe('heard 3000000');
});

test('many clients at once each get their own answer', async () => {
  farNode.serve = (socket) => void socket.pipe(socket);
  const answers = await Promise.all(Array.from({ length: 150 }, (_, index) => say(`client ${index}`)));
  expect(answers).toEqual(Array.from({ length: 150 }, (_, index) => `client ${index}`));
});

test('a client that is lost is lost for its node, and a node that is lost for its client', async () => {
  farNode.serve = (socket) =>
    void socket
      .resume()
      .once('end', () => socket.end())
      .write('welcome');
  const open = async () => {
    const arrived = once(far, 'connection') as Promise<[Socket]>;
    const client = connect(port, '127.0.0.1');
    client.on('error', () => undefined);
    await once(client, 'data');
    return { client, node: (await arrived)[0] };
  };
  const one = await open();
  const left = once(one.node, 'close');
  one.client.resetAndDestroy();
  await left;
  const other = await open();
  const lost = once(other.client, 'close');
  other.node.resetAndDestroy();
  await lost;
});

test('while its node restarts clients come to the next one, and then to the first again', async () => {
  const { port: farPort } = far.address() as AddressInfo;
  const named = (name: string) => (socket: Socket) => void socket.end(name);
  [farNode.serve, nearNode.serve] = [named('far'), named('near')];
  expect(await say('')).toBe('far');
  far.close();
  expect(await say('')).toBe('near');
  near.close();
  expect(await say('')).toBe('');
  far.listen(farPort, '127.0.0.1');
  await once(far, 'listening');
  expect(await say('')).toBe('far');
  expect(relay.stderr).toContain(`127.0.0.1:${farPort} does not answer: `);
});

test('addresses and certificates that cannot be are refused before a port is open', async () => {
  const refused = async (...flags: string[]) => {
    const started = new RuntimeProcess({ flags: ['relay', ...flags], home: home.path });
    const { code } = await started.exited;
    return [code, started.stderr.split(';')[0]];
  };
  const [wrong, missing] = await Promise.all([
    refused('--to', 'tls://host:70000'),
    refused('--to', 'tls://host:1', '--ca', 'no-such-file'),
  ]);
  expect(wrong).toEqual([
    2,
    'groundcrew: --to needs addresses such as tls://host:4321, separated by commas\n',
  ]);
  expect(missing).toEqual([2, expect.stringContaining('--ca cannot be read: ENOENT')]);
});

async function listen(node: typeof farNode): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    node.sockets.push(socket);
    socket.on('error', () => undefined);
    node.serve(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
}

function portOf(server: Server): number {
  return (server.address() as AddressInfo).port;
}

/** Says all, hangs up, and reads to the end. */
async function say(what: string | Buffer): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => undefined);
  socket.end(what);
  await once(socket, 'close');
  return Buffer.concat(chunks).toString();
}
