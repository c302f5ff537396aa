import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { Forbidden } from '../permissions/policy.js';
import { webFetchTool } from './web-fetch.js';

const world = ToolWorld.forEachTest();
const strict = webFetchTool({ allowedHosts: [] });
const lenient = webFetchTool({ allowedHosts: ['127.0.0.1'] });
const servers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((close) => close()));
});

/** A real server; its address. */
async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  servers.push(() => {
    server.closeAllConnections();
    server.close();
    return once(server, 'close');
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function html(body: string): RequestListener {
  return (_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.end(body);
  };
}

test('a page becomes markdown', async () => {
  const page =
    '<html><head><title>Birds</title><style>p{}</style></head><body><h1>Birds</h1><script>x()</script><p>A <b>wren</b> &amp; <a href="/owl">owl</a>.</p><ul><li>one</li></ul></body></html>';
  const url = `${await serve(html(page))}/birds`;
  expect(await world.call(lenient, { url })).toEqual({
    questions: [{ request: { kind: 'url', intention: 'Fetch content from this URL.', url } }],
    result: {
      type: 'success',
      text: `Contents of ${url}:\n# Birds\n\nA **wren** & [owl](/owl).\n\n-   one`,
    },
  });
  expect(await world.published(lenient, { url, raw: true })).toBe(`Contents of ${url}:\n${page}`);
});

test('what is not HTML stays as it is, unpacked and read by its own charset', async () => {
  const zipped = await serve((_request, response) => {
    response.setHeader('content-type', 'application/json');
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync('{"a":1}'));
  });
  expect(await world.published(lenient, { url: zipped })).toBe(`Contents of ${zipped}/:\n{"a":1}`);
  for (const coding of ['constructor', '__proto__', 'toString']) {
    const odd = await serve((_request, response) => {
      response.setHeader('content-encoding', coding);
      response.end('as it is');
    });
    expect(await world.published(lenient, { url: odd })).toBe(`Contents of ${odd}/:\nas it is`);
  }
  const latin = await serve((_request, response) => {
    response.setHeader('content-type', 'text/plain; charset=iso-8859-1');
    response.end(Buffer.from([0x63, 0x61, 0x66, 0xe9]));
  });
  expect(await world.published(lenient, { url: latin })).toBe(`Contents of ${latin}/:\ncafé`);
});

test('a long page is read in parts', async () => {
  const url = await serve((_request, response) => response.end('abcdefghij'));
  expect(await world.published(lenient, { url, max_length: 4 })).toBe(
    `Contents of ${url}/:\nabcd\n\n[6 more characters. Call web_fetch with start_index 4 to read on.]`,
  );
  expect(await world.published(lenient, { url, max_length: 10, start_index: 4 })).toBe(
    `Contents of ${url}/:\nefghij`,
  );
  expect((await world.call(lenient, { url, start_index: 10 })).failure?.message).toBe(
    'start_index out of bounds',
  );
  expect((await world.call(lenient, { url, max_length: 20_001 })).failure?.message).toBe(
    '"max_length": Number must be less than or equal to 20000',
  );
});

test('a huge page is cut, though it comes packed in a few bytes', async () => {
  const url = await serve((_request, response) => {
    response.setHeader('content-encoding', 'gzip');
    response.end(gzipSync(Buffer.alloc(50 * 1024 * 1024, 'x')));
  });
  const published = await world.published(lenient, { url, start_index: 5 * 1024 * 1024 - 10 });
  expect(published).toBe(`Contents of ${url}/:\nxxxxxxxxxx\n\n[The page was too long and was cut here.]`);
});

test('addresses that are not public are refused, however they are spelled', async () => {
  const blocked = (url: string, address: string) =>
    `WebFetchBlockedUrlError: web_fetch URL "${url}" resolves to blocked address ${address}. URLs must not target loopback, private, or link-local addresses.`;
  const cases = [
    ['http://127.0.0.1:1/x', 'http://127.0.0.1:1/x', '127.0.0.1'],
    ['http://0x7f.1/', 'http://127.0.0.1/', '127.0.0.1'],
    ['http://2130706433/', 'http://127.0.0.1/', '127.0.0.1'],
    ['http://[::ffff:169.254.169.254]/', 'http://[::ffff:a9fe:a9fe]/', '::ffff:a9fe:a9fe'],
    ['http://10.0.0.8/', 'http://10.0.0.8/', '10.0.0.8'],
  ] as const;
  for (const [url, shown, address] of cases) {
    expect((await world.call(strict, { url })).failure).toMatchObject({
      text: `Failed to fetch ${url}: ${blocked(shown, address)}`,
      message: blocked(shown, address),
    });
  }
  expect(await world.published(strict, { url: 'http://localhost:1/' })).toMatch(
    /resolves to blocked address (127|::1)/,
  );
});

test('a redirect is followed on its host and checked each time', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/end') return void response.end('arrived');
    const location = { '/same': '/end', '/loop': '/loop', '/inside': 'http://169.254.169.254/meta' }[
      request.url ?? ''
    ];
    response.writeHead(302, { location: location ?? 'ftp://example.invalid/' });
    response.end();
  });
  expect(await world.published(lenient, { url: `${url}/same` })).toBe(`Contents of ${url}/end:\narrived`);
  expect(await world.published(lenient, { url: `${url}/loop` })).toBe(
    `Failed to fetch ${url}/loop: more than 5 redirects`,
  );
  expect(await world.published(lenient, { url: `${url}/inside` })).toContain(
    'resolves to blocked address 169.254.169.254',
  );
  expect(await world.published(lenient, { url: `${url}/ftp` })).toContain(
    'only http and https are supported',
  );
});

test('a redirect to an address that rules forbid is not followed', async () => {
  const asked: string[] = [];
  const url = await serve((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(302, { location: '/private' }).end();
  });
  const forbidden = new Forbidden({ type: 'deny', because: 'no' });
  const checkAddress = (next: string) => {
    if (next.endsWith('/private')) throw forbidden;
  };
  const prepared = await lenient.prepare({ url }, world.context({ checkAddress }));
  if (prepared.type !== 'run') throw new Error('It runs by itself');
  await expect(prepared.run(new AbortController().signal)).rejects.toBe(forbidden);
  expect(asked).toEqual(['/']);
});

test('a redirect to another host is reported and not followed', async () => {
  const other = 'http://localhost:1/x';
  const url = await serve((_request, response) => {
    response.writeHead(301, { location: other });
    response.end();
  });
  const both = webFetchTool({ allowedHosts: ['127.0.0.1', 'localhost'] });
  expect(await world.published(both, { url })).toBe(
    `Failed to fetch ${url}: it redirects to another host. To read on, fetch ${other} itself`,
  );
});

test('what is no web address fails before anybody is asked', async () => {
  for (const url of ['nonsense', 'file:///etc/passwd', 'http://user:secret@example.com/']) {
    const { questions, failure } = await world.call(strict, { url });
    expect([questions, failure?.text.startsWith(`Failed to fetch ${url}: `)]).toEqual([[], true]);
  }
});

test('errors of the server and content that is no text are failures', async () => {
  const url = await serve((request, response) => {
    if (request.url === '/image') response.setHeader('content-type', 'image/png');
    else response.statusCode = 404;
    response.end('x');
  });
  expect(await world.published(lenient, { url: `${url}/gone` })).toBe(
    `Failed to fetch ${url}/gone: HTTP 404 Not Found`,
  );
  expect(await world.published(lenient, { url: `${url}/image` })).toBe(
    `Failed to fetch ${url}/image: its content (image/png) is not text`,
  );
});
