import { connect } from 'node:net';
import { openHttpDoor } from '@groundcrew/http-door';
import { say } from '@groundcrew/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bearer, token, WebWorld } from './web-world.js';

const allowed = ['--allow-origin', 'https://Agents.Example:443/', '--allow-host', 'Agents.Example'];
const world = new WebWorld([say('one')], ['serve', '--http-port', '0', ...allowed]);

beforeAll(() => world.start());
afterAll(() => world.stop());

describe('requests that no browser makes', () => {
  test('one that offers HTTP/2 is answered in HTTP/1.1, with a body or without', async () => {
    await using client = world.client();
    const session = await client.createSession({ sessionId: 'told' });
    await session.sendAndWait('One');
    const offer = [
      'Connection: close, Upgrade, HTTP2-Settings',
      'Upgrade: h2c',
      'HTTP2-Settings: AAMAAABkAAQCAAAA',
    ];
    const read = await exchange(['GET /events?session=told&follow=0 HTTP/1.1', shown, ...offer]);
    expect(read).toMatch(/^HTTP\/1\.1 200 .*event: end/s);
    const entered = await exchange(['POST /enter HTTP/1.1', shown, ...offer, 'Content-Length: 2'], '{}');
    expect(entered).toMatch(/^HTTP\/1\.1 204 /);
    expect(await exchange(['CONNECT example.com:80 HTTP/1.1', shown])).toBe('');
  });

  test('two hosts are refused, whichever comes first', async () => {
    const path = 'GET /known HTTP/1.1';
    expect(await exchange([path, shown, 'Host: evil.example'])).toMatch(/^HTTP\/1\.1 400 /);
    expect(await exchange([path, 'Host: evil.example', shown])).toMatch(/^HTTP\/1\.1 400 /);
  });

  test('what is only read is not answered to those who ask to change it', async () => {
    const ask = async (method: string, path: string) =>
      (await exchange([`${method} ${path} HTTP/1.1`, shown])).split(' ', 2)[1];
    const reads = ['/known', '/requests?session=told', '/usage?session=told', '/stored', '/'];
    for (const method of ['DELETE', 'PUT', 'TRACE', 'OPTIONS'])
      expect([method, await Promise.all(reads.map((path) => ask(method, path)))]).toEqual([
        method,
        reads.map(() => '405'),
      ]);
    expect([await ask('TRACE', '/events?session=told'), await ask('HEAD', '/known')]).toEqual(['405', '200']);
  });
});

describe('names and pages that the operator allows', () => {
  test('are those that were meant, however they were written', async () => {
    const ask = async (headers: Readonly<Record<string, string>>) =>
      (await world.ask('/known', { headers: { ...bearer, ...headers } })).status;
    expect({
      origin: await ask({ origin: 'https://agents.example' }),
      otherPort: await ask({ origin: 'https://agents.example:8443' }),
      otherScheme: await ask({ origin: 'ftp://agents.example' }),
      host: await ask({ host: 'agents.example' }),
      subdomain: await ask({ host: 'x.agents.example' }),
    }).toEqual({ origin: 200, otherPort: 403, otherScheme: 403, host: 200, subdomain: 403 });
  });

  test.each([
    ['--allow-origin', 'agents.example'],
    ['--allow-origin', 'https://*.example'],
    ['--allow-origin', 'https://agents.example/page'],
    ['--allow-host', 'https://agents.example'],
    ['--allow-host', '*'],
    ['--allow-host', ''],
  ])('that can never come are a mistake: %s %s', async (flag, value) => {
    const server = world.another(['serve', '--http-port', '0', flag, value]);
    expect(await server.exited).toMatchObject({ code: 2 });
    expect(server.stderr).toContain(`${flag}: ${value} is no `);
  });
});

test('an answer that breaks off is not taken for a whole one', async () => {
  const door = await openHttpDoor({ token: undefined, routes: { '/': { isOpen: true, answer: brokenOff } } });
  const answer = await fetch(door.url);
  await expect(answer.text()).rejects.toThrow();
  await door.close();
});

async function brokenOff(): Promise<Response> {
  const pieces = (async function* () {
    yield new TextEncoder().encode('a half');
    throw new Error('The other half is lost');
  })();
  return new Response(
    new ReadableStream({
      async pull(controller) {
        const { value } = await pieces.next();
        controller.enqueue(value);
      },
    }),
  );
}

const shown = 'Host: THIS\r\nAuthorization: Bearer TOKEN';

/** All that the server answers to one request, which it is told is the last. */
function exchange(lines: readonly string[], body = ''): Promise<string> {
  const { host, port } = new URL(world.url);
  const closes = lines.some((line) => line.startsWith('Connection:')) ? [] : ['Connection: close'];
  const head = [...lines, ...closes].join('\r\n').replace('THIS', host).replace('TOKEN', token);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1');
    let answer = '';
    socket.setEncoding('utf8').on('data', (text: string) => {
      answer += text;
    });
    socket.on('close', () => resolve(answer)).on('error', reject);
    socket.write(`${head}\r\n\r\n${body}`);
  });
}
