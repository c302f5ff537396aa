import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { proxyFor } from '@groundcrew/http-client';
import { expect, test } from 'vitest';
import { collect, localProxy, localServer, noUsage } from '../test/local-server.js';
import { socketServer } from '../test/socket-server.js';
import { configuredProvider } from './providers.js';

const certificate = new URL('../fixtures/tls/certificate.pem', import.meta.url);
const tls = {
  cert: readFileSync(certificate),
  key: readFileSync(new URL('../fixtures/tls/key.pem', import.meta.url)),
};

const providerFor = (baseUrl: string, environment: Record<string, string>) =>
  configuredProvider({ baseUrl, apiKey: 'sk-secret' }, { environment, version: '1.0.0' });

test.each([
  [{}, undefined],
  [{ HTTPS_PROXY: 'http://p:8080' }, 'http://p:8080/'],
  [{ https_proxy: 'p:1', HTTPS_PROXY: 'http://q:2' }, 'http://p:1/'],
  [{ HTTP_PROXY: 'http://p:8080' }, undefined],
  [{ HTTPS_PROXY: ' ' }, undefined],
  [{ HTTPS_PROXY: 'p:1', NO_PROXY: '*' }, undefined],
  [{ HTTPS_PROXY: 'p:1', NO_PROXY: 'other, api.model.test' }, undefined],
  [{ HTTPS_PROXY: 'p:1', no_proxy: '.MODEL.test' }, undefined],
  [{ HTTPS_PROXY: 'p:1', NO_PROXY: 'model.test' }, undefined],
  [{ HTTPS_PROXY: 'p:1', NO_PROXY: '*.model.test:443' }, undefined],
  [{ HTTPS_PROXY: 'p:1', NO_PROXY: 'api.model.test:8443' }, 'http://p:1/'],
  [{ HTTPS_PROXY: 'p:1', NO_PROXY: 'del.test' }, 'http://p:1/'],
])('with %j the way to https://api.model.test is %s', (environment, expected) => {
  expect(proxyFor(new URL('https://api.model.test/v1'), environment)?.href).toBe(expected);
});

test('what is no proxy we can speak to is a mistake in the configuration', () => {
  const find = (value: string) => () => proxyFor(new URL('http://x.test'), { HTTP_PROXY: value });
  expect(find('socks5://p:1')).toThrow(
    'HTTP_PROXY names a socks5 proxy; this version speaks to http and https proxies',
  );
  expect(find('http://user:sk-secret@')).toThrow('HTTP_PROXY is not the address of a proxy');
});

test('a plain call is handed to the proxy with its whole address', async () => {
  const proxy = await localProxy(0);
  const environment = { HTTP_PROXY: `http://ann:p%40ss@127.0.0.1:${proxy.port}` };
  await collect(providerFor('http://model.test/v1', environment));
  expect(proxy.asked).toMatchObject([
    {
      method: 'POST',
      url: 'http://model.test/v1/chat/completions',
      headers: {
        host: 'model.test',
        authorization: 'Bearer sk-secret',
        'proxy-authorization': `Basic ${Buffer.from('ann:p@ss').toString('base64')}`,
      },
    },
  ]);
});

/** What a process of its own is answered, that trusts our certificate. */
async function answersIn(child: string, environment: Record<string, string>): Promise<unknown> {
  const file = fileURLToPath(new URL(`../test/children/${child}`, import.meta.url));
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--import', import.meta.resolve('tsx'), file],
    { env: { ...environment, NODE_EXTRA_CA_CERTS: fileURLToPath(certificate) } },
  );
  return JSON.parse(stdout);
}

const end = { type: 'end', reason: 'stop', usage: noUsage, responseId: 'r1' };

test('an encrypted call without a proxy agrees with its service once, and opens with that again', async () => {
  const isReused: boolean[] = [];
  const server = await localServer((response) => {
    isReused.push((response.req.socket as TLSSocket).isSessionReused());
    response.setHeader('connection', 'close').end('{"id":"r1","choices":[]}');
  }, tls);
  expect(await answersIn('call-directly.ts', { PORT: String(server.port) })).toEqual([[end], [end]]);
  expect(server.asked.map(({ headers }) => headers.host)).toEqual(Array(2).fill(`model.test:${server.port}`));
  expect(isReused).toEqual([false, true]);
});

test('an encrypted call goes through a tunnel to a service that further authorities vouch for', async () => {
  const server = await localServer((response) => response.end('{"id":"r1","choices":[]}'), tls);
  const proxy = await localProxy(server.port);
  const environment = { HTTPS_PROXY: `http://ann:secret@127.0.0.1:${proxy.port}` };
  expect(await answersIn('call-twice.ts', environment)).toEqual([[end], [end]]);
  expect(proxy.asked.map(({ method, url, headers }) => ({ method, url, headers }))).toEqual([
    {
      method: 'CONNECT',
      url: 'model.test:443',
      headers: {
        host: 'model.test:443',
        connection: 'keep-alive',
        'proxy-authorization': `Basic ${Buffer.from('ann:secret').toString('base64')}`,
      },
    },
  ]);
  expect(server.asked.map(({ headers }) => headers.host)).toEqual(['model.test', 'model.test']);
});

test('a service without a trusted certificate is a mistake in the configuration, and learns nothing', async () => {
  const server = await localServer((response) => response.end(), tls);
  const proxy = await localProxy(server.port);
  await expect(collect(providerFor('https://model.test', { HTTPS_PROXY: proxy.url }))).rejects.toMatchObject({
    kind: 'configuration',
    code: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    message: expect.stringMatching(
      /^The service's certificate is not trusted: self-signed certificate.*; NODE_EXTRA_CA_CERTS names further/,
    ),
  });
  expect(server.asked).toEqual([]);
});

test('a proxy that refuses is distinguished from a service that does', async () => {
  const refusing = await localProxy(0, 503);
  await expect(
    collect(providerFor('https://model.test', { HTTPS_PROXY: refusing.url })),
  ).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'The proxy refused the connection with status 503',
  });
  const asking = await localProxy(0, 407);
  await expect(collect(providerFor('https://model.test', { HTTPS_PROXY: asking.url }))).rejects.toMatchObject(
    {
      kind: 'configuration',
      message: 'The proxy wants other credentials',
    },
  );
  await expect(
    collect(providerFor('https://model.test', { HTTPS_PROXY: 'http://127.0.0.1:1' })),
  ).rejects.toMatchObject({ kind: 'network', code: 'ECONNREFUSED' });
});

test('an encrypted WebSocket goes through a tunnel to a service that further authorities vouch for', async () => {
  const completed = JSON.stringify({
    type: 'response.completed',
    response: { id: 'r1', status: 'completed' },
  });
  const server = await socketServer((socket) => socket.send(completed), { tls });
  const proxy = await localProxy(server.port);
  expect(await answersIn('call-socket.ts', { HTTPS_PROXY: proxy.url })).toEqual([end]);
  expect(proxy.asked.map(({ method, url }) => [method, url])).toEqual([['CONNECT', 'model.test:443']]);
  expect(server.asked.map(({ url, headers }) => [url, headers.host])).toEqual([['/responses', 'model.test']]);
});
