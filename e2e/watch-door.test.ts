import { connect } from 'node:net';
import { openHttpDoor } from '@groundcrew/http-door';
import { approveAll } from '@groundcrew/sdk';
import { providerOf, say } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { until } from './mcp-world.js';
import { bearer, WebWorld } from './web-world.js';

const watched = new WebWorld(
  [say('Hello'), say('Again')],
  ['serve', '--http-port', '0', '--health', '--metrics'],
);
const unwatched = new WebWorld([say('Hello')]);

beforeAll(() => Promise.all([watched.start(), unwatched.start()]));
afterAll(() => Promise.all([watched.stop(), unwatched.stop()]));

async function answerOf(url: string, headers: Readonly<Record<string, string>> = {}) {
  const answer = await fetch(url, { headers });
  return { status: answer.status, text: await answer.text() };
}

test('health and readiness are answered without a token, metrics only with it', async () => {
  const { url } = watched;
  expect(await answerOf(`${url}/healthz`)).toEqual({ status: 200, text: 'ok\n' });
  expect(await answerOf(`${url}/readyz`)).toEqual({ status: 200, text: 'ready\n' });
  expect(await answerOf(`${url}/metrics`)).toMatchObject({ status: 401 });
  expect(await answerOf(`${url}/metrics`, { authorization: 'Bearer another' })).toMatchObject({
    status: 401,
  });
});

test('all of them are only read; what else is sent there is refused', async () => {
  const asked = async (path: string, method: string) => {
    const { status, body } = await watched.ask(path, { method, headers: bearer });
    return [status, body];
  };
  for (const path of ['/healthz', '/readyz', '/metrics']) {
    expect(await asked(path, 'HEAD')).toEqual([200, '']);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS'])
      expect(await asked(path, method)).toEqual([405, 'Only GET and HEAD are answered here\n']);
  }
});

test('strangers take no place of those who show the token, however many answers they wait for', async () => {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  let waiting = 0;
  const most = 8;
  const door = await openHttpDoor({
    token: 'a-token-of-the-tests',
    mostConnections: most,
    routes: {
      '/open': {
        isOpen: true,
        answer: async () => {
          waiting += 1;
          await released;
          return new Response('late');
        },
      },
      '/own': { answer: async () => new Response('own') },
    },
  });
  const stranger = connect(door.port, door.host);
  let read = '';
  stranger.setEncoding('utf8').on('data', (text: string) => {
    read += text;
  });
  const question = `GET /open HTTP/1.1\r\nhost: ${door.host}:${door.port}\r\n\r\n`;
  stranger.write(question.repeat(2 * most));
  await until(() => waiting === most);
  expect(await answerOf(`${door.url}/own`, bearer)).toEqual({ status: 200, text: 'own' });
  release();
  await until(() => read.split('HTTP/1.1 ').length === most + 2);
  expect(read.match(/HTTP\/1.1 \d+/g)).toEqual([...Array(most).fill('HTTP/1.1 200'), 'HTTP/1.1 503']);
  stranger.destroy();
  await door.close();
});

test('metrics are what Prometheus reads, and count what sessions did', async () => {
  await using client = watched.client();
  const session = await client.createSession({ onPermissionRequest: approveAll });
  await session.sendAndWait('Hello');
  const { status, text } = await answerOf(`${watched.url}/metrics`, bearer);
  expect(status).toBe(200);
  const { heads, values } = read(text);
  expect(values).toMatchObject({ groundcrew_clients: '1', groundcrew_sessions_live: '1' });
  expect(values.gen_ai_invoke_agent_duration_seconds_count).toBe('1');
  expect(values['gen_ai_invoke_agent_duration_seconds_bucket{le="+Inf"}']).toBe('1');

  // Names that clients choose are values of labels, and nothing else.
  const strange = 'a "model"\\of\nlines{le="1"}';
  const { provider } = providerOf(watched.model);
  const other = await client.createSession({
    onPermissionRequest: approveAll,
    model: strange,
    provider: { ...provider, type: 'openai' },
  });
  await other.sendAndWait('Hello').catch(() => undefined);
  const later = read((await answerOf(`${watched.url}/metrics`, bearer)).text);
  expect(Object.keys(later.values).join('\n')).toContain('a \\"model\\"\\\\of\\nlines{le=\\"1\\"}');
  expect(later.heads).toEqual(expect.arrayContaining([...heads]));
  const fallen = Object.keys(values).filter(
    (name) => /_(count|total|bucket|sum)\b/.test(name) && Number(later.values[name]) < Number(values[name]),
  );
  expect(fallen).toEqual([]);
});

/** Reads what Prometheus would, and as strictly: every name is described once, before its values, and no value comes twice. */
function read(text: string) {
  expect(text.endsWith('\n')).toBe(true);
  const lines = text.slice(0, -1).split('\n');
  const wrong = lines.filter(
    (line) =>
      !/^# (HELP|TYPE) [a-zA-Z_:][\w:]* \S/.test(line) &&
      !/^[a-zA-Z_:][\w:]*(\{(\w+="([^"\\]|\\[\\n"])*",?)*\})? [-+.\deE]+(Inf)?$/.test(line),
  );
  expect(wrong).toEqual([]);
  const heads = lines.filter((line) => line.startsWith('# ')).map((line) => line.split(' ', 3).join(' '));
  expect(heads).toEqual([...new Set(heads)]);
  const series = lines.filter((line) => !line.startsWith('# '));
  const entries = series.map((line) => [
    line.slice(0, line.lastIndexOf(' ')),
    line.slice(line.lastIndexOf(' ') + 1),
  ]);
  const values: Readonly<Record<string, string>> = Object.fromEntries(entries);
  expect(Object.keys(values)).toHaveLength(series.length);
  return { heads, values };
}

test('none of it is there unless it is asked for', async () => {
  const { url } = unwatched;
  const statuses = ['/healthz', '/readyz', '/metrics'].map((path) => answerOf(`${url}${path}`, bearer));
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 404, 404]);
});
