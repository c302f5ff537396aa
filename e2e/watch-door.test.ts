import { once } from 'node:events';
import { connect } from 'node:net';
import { approveAll } from '@groundcrew/sdk';
import { providerOf, say } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
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

test('strangers who ask for readiness without end take nothing from those who show the token', async () => {
  const { hostname, port } = new URL(watched.url);
  const crowd = Array.from({ length: 40 }, () => connect(Number(port), hostname));
  await Promise.all(crowd.map((socket) => once(socket, 'connect')));
  const question = `GET /readyz HTTP/1.1\r\nhost: ${hostname}:${port}\r\n\r\n`;
  // None of them reads what it is answered.
  for (const socket of crowd)
    socket
      .pause()
      .on('error', () => undefined)
      .write(question.repeat(100));
  const seen = await Promise.all(
    Array.from({ length: 5 }, () => answerOf(`${watched.url}/metrics`, bearer).then(({ status }) => status)),
  );
  expect(seen).toEqual([200, 200, 200, 200, 200]);
  for (const socket of crowd) socket.destroy();
  expect(await answerOf(`${watched.url}/readyz`)).toEqual({ status: 200, text: 'ready\n' });
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
