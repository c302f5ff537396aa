import { createServer as createRawServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { expect, onTestFinished, test } from 'vitest';
import { localServer } from '../test/local-server.js';
import type { HttpRequest, TimeLimits } from './exchange.js';
import { httpExchange } from './http-exchange.js';

const patient: TimeLimits = { send: 5_000, firstByte: 5_000, idle: 5_000 };
const never = new AbortController().signal;

const post = (url: string, options: Partial<HttpRequest> = {}): HttpRequest => ({
  method: 'POST',
  url,
  headers: { 'content-type': 'application/json' },
  body: [Buffer.from('{'), Buffer.from('}')],
  ...options,
});

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** A service that answers each request of each connection by hand. */
async function rawServer(answer: (socket: Socket, request: string, connection: number) => void) {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    const connection = sockets.size;
    socket.on('error', () => undefined);
    socket.on('data', (bytes) => answer(socket, bytes.toString('latin1'), connection));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no address');
  return { url: `http://127.0.0.1:${address.port}/`, sockets };
}

const hello = 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello';

test('a request says where it goes, how long it is, and who asks if the address says so', async () => {
  const server = await localServer((response) => response.end('ok'));
  const call = httpExchange({}, patient);
  const address = `http://ann:p%40ss@127.0.0.1:${server.port}/a%20b?c=d#e`;
  const { status, body } = await call(
    post(address, { body: [Buffer.from('{"é":'), Buffer.from('1}')] }),
    never,
  );
  expect([status, await textOf(body)]).toEqual([200, 'ok']);
  await call({ method: 'GET', url: server.url, headers: { authorization: 'Bearer x' } }, never);
  expect(server.asked).toEqual([
    {
      method: 'POST',
      url: '/a%20b?c=d',
      body: '{"é":1}',
      headers: {
        host: `127.0.0.1:${server.port}`,
        connection: 'keep-alive',
        authorization: `Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
        'content-type': 'application/json',
        'content-length': '8',
      },
    },
    expect.objectContaining({ method: 'GET', url: '/', body: '' }),
  ]);
});

test('no header can begin another one', async () => {
  const server = await localServer((response) => response.end('ok'));
  const call = httpExchange({}, patient);
  for (const headers of [{ 'x-a': 'b\r\nx-c: d' }, { 'x-a': 'b\nc' }, { 'x-a': 'b\0' }, { 'x-a': '☃' }])
    await expect(call(post(server.url, { headers }), never)).rejects.toThrow(
      'The header x-a has characters that HTTP does not allow',
    );
  await expect(call(post(server.url, { headers: { 'x-a: b\r\nx': '1' } }), never)).rejects.toThrow(
    'A header has characters that HTTP does not allow',
  );
  expect(server.asked).toEqual([]);
});

test('a connection carries one call after the other, and a second one beside it where two are made at once', async () => {
  const server = await rawServer((socket, _, connection) =>
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${connection}`),
  );
  const call = httpExchange({}, patient);
  const ask = async () => textOf((await call(post(server.url), never)).body);
  expect([await ask(), await ask()]).toEqual(['1', '1']);
  expect((await Promise.all([ask(), ask()])).sort()).toEqual(['1', '2']);
  expect(server.sockets.size).toBe(2);
});

test.each([
  ['is the last', 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nHello'],
  [
    'is kept for no time',
    'HTTP/1.1 200 OK\r\nKeep-Alive: timeout=1, max=5\r\nContent-Length: 5\r\n\r\nHello',
  ],
  ['says more than it should', `${hello}HTTP/1.1 200 OK\r\n`],
])('a connection that %s carries no other call', async (_, answer) => {
  const server = await rawServer((socket) => socket.write(answer));
  const call = httpExchange({}, patient);
  for (const _call of [1, 2]) expect(await textOf((await call(post(server.url), never)).body)).toBe('Hello');
  expect(server.sockets.size).toBe(2);
});

test('an answer that comes before all of the request was sent is read, and its connection given up', async () => {
  const server = await rawServer((socket, _, connection) => {
    if (connection > 1) socket.write(hello);
    else if (!socket.isPaused()) {
      socket.pause();
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nbig');
    }
  });
  const call = httpExchange({}, patient);
  const refused = await call(post(server.url, { body: [Buffer.alloc(32 * 1024 * 1024)] }), never);
  expect([refused.status, await textOf(refused.body)]).toEqual([413, 'big']);
  expect(await textOf((await call(post(server.url), never)).body)).toBe('Hello');
  expect(server.sockets.size).toBe(2);
});

test('a large answer waits for its reader, and comes whole', async () => {
  const size = 24 * 1024 * 1024;
  const server = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
    socket.write(Buffer.alloc(size, 'x'));
  });
  const { body } = await httpExchange({}, patient)(post(server.url), never);
  const [socket] = server.sockets;
  // Without a reader, what does not fit into the buffers of both sides stays with the service.
  await new Promise((resolve) => setImmediate(resolve));
  expect(socket?.writableLength).toBeGreaterThan(size / 2);
  let read = 0;
  for await (const chunk of body) read += chunk.byteLength;
  expect(read).toBe(size);
});

test('a server that speaks no HTTP, or hangs up, is distinguished from a slow one', async () => {
  const other = await rawServer((socket) => socket.write('220 mail.example ESMTP'));
  await expect(httpExchange({}, patient)(post(other.url), never)).rejects.toMatchObject({
    kind: 'bad_response',
    message: 'The model service sent an answer that is not HTTP: it does not begin with an HTTP status',
  });
  const leaving = await rawServer((socket) => socket.end());
  await expect(httpExchange({}, patient)(post(leaving.url), never)).rejects.toMatchObject({
    code: 'ECONNRESET',
    message: 'The model service closed the connection before it answered',
  });
  const slow = await rawServer(() => undefined);
  const limits = { ...patient, firstByte: 20 };
  await expect(httpExchange({}, limits)(post(slow.url), never)).rejects.toMatchObject({ kind: 'timeout' });
});

test('each piece of an answer starts its time limit anew', async () => {
  const server = await rawServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
    let pieces = 0;
    const timer = setInterval(() => {
      pieces += 1;
      socket.write(pieces < 6 ? '1\r\nx\r\n' : '0\r\n\r\n');
      if (pieces === 6) clearInterval(timer);
    }, 100);
  });
  const limits = { send: 450, firstByte: 450, idle: 450 };
  const { body } = await httpExchange({}, limits)(post(server.url), never);
  expect(await textOf(body)).toBe('xxxxx');
});

test.each([
  ['gzip', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['br', brotliCompressSync],
] as const)('an answer packed as %s is read as it was before', async (coding, pack) => {
  const text = 'data: words and words\n\n'.repeat(2_000);
  const server = await localServer((response) =>
    response.setHeader('content-encoding', coding).end(pack(Buffer.from(text))),
  );
  const { body } = await httpExchange({}, patient)(post(server.url), never);
  expect(await textOf(body)).toBe(text);
});

test('a packed answer that is damaged fails, and one in an unknown coding comes as it is', async () => {
  const damaged = await localServer((response) =>
    response.setHeader('content-encoding', 'gzip').end('no gzip'),
  );
  const call = httpExchange({}, patient);
  const { body } = await call(post(damaged.url), never);
  await expect(textOf(body)).rejects.toThrow('incorrect header check');
  const other = await localServer((response) =>
    response.setHeader('content-encoding', 'zstd').end('as it is'),
  );
  expect(await textOf((await call(post(other.url), never)).body)).toBe('as it is');
});
