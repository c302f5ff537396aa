import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { guardedFetch } from './guarded-fetch.js';

let server: Server;
let port = 0;
const reached: string[] = [];
beforeAll(async () => {
  server = createServer((request, response) => {
    reached.push(`${request.headers.host}${request.url}`);
    if (request.url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else if (request.url === '/huge') response.end('x'.repeat(300 * 1024));
    else response.end('{}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});
afterAll(() => server.close());

test('the connection goes to the address that was looked up, and it is looked up once', async () => {
  const looked: string[] = [];
  const fetch = guardedFetch(`http://own.test:${port}/mcp`, async (host) => {
    looked.push(host);
    return [{ address: looked.length === 1 ? '127.0.0.1' : '127.0.0.9' }];
  });
  expect((await fetch(`http://own.test:${port}/metadata`)).status).toBe(200);
  expect(looked).toEqual(['own.test']);
  expect(reached).toEqual([`own.test:${port}/metadata`]);
});

test.each([[['127.0.0.1']], [['93.184.216.34', '10.0.0.1']], [['::ffff:169.254.169.254']]])(
  'another host that leads to %j is not reached',
  async (addresses) => {
    reached.length = 0;
    const fetch = guardedFetch('https://own.test/mcp', async () => addresses.map((address) => ({ address })));
    await expect(fetch(`http://other.test:${port}/`)).rejects.toThrow(/not public/);
    expect(reached).toEqual([]);
  },
);

test('the name of the server leads to this machine at its own port only; an address that the user wrote, at every port', async () => {
  reached.length = 0;
  const lookUp = async () => [{ address: '127.0.0.1' }];
  const elsewhere = guardedFetch('http://own.test/mcp', lookUp);
  await expect(elsewhere(`http://own.test:${port}/`)).rejects.toThrow(/not public/);
  expect(reached).toEqual([]);
  for (const host of ['127.0.0.1', 'localhost'])
    expect((await guardedFetch(`http://${host}/mcp`, lookUp)(`http://${host}:${port}/`)).status).toBe(200);
});

test('a redirect is an answer that leads nowhere, and other kinds of address are refused', async () => {
  const fetch = guardedFetch(`http://127.0.0.1:${port}/mcp`);
  expect((await fetch(`http://127.0.0.1:${port}/away`)).status).toBe(302);
  await expect(fetch('file:///etc/passwd')).rejects.toThrow(/only http/);
  await expect(fetch(`http://127.0.0.1:${port}/huge`)).rejects.toThrow(/256 KB/);
});
