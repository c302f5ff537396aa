import { approveAll } from '@groundcrew/sdk';
import { say } from '@groundcrew/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bearer, WebWorld } from './web-world.js';

const watched = new WebWorld([say('Hello')], ['serve', '--http-port', '0', '--health', '--metrics']);
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
});

test('metrics are what Prometheus reads, and count what sessions did', async () => {
  await using client = watched.client();
  const session = await client.createSession({ onPermissionRequest: approveAll });
  await session.sendAndWait('Hello');
  const { status, text } = await answerOf(`${watched.url}/metrics`, bearer);
  expect(status).toBe(200);
  const lines = text.split('\n').filter((line) => line !== '');
  const wrong = lines.filter(
    (line) =>
      !/^# (HELP|TYPE) [a-zA-Z_:][\w:]*( |$)/.test(line) &&
      !/^[a-zA-Z_:][\w:]*(\{(\w+="([^"\\]|\\.)*",?)*\})? [-+.\deE]+(Inf)?$/.test(line),
  );
  expect(wrong).toEqual([]);
  const values = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), line.slice(line.lastIndexOf(' ') + 1)]),
  );
  expect(values).toMatchObject({ groundcrew_clients: '1', groundcrew_sessions_live: '1' });
  expect(values.gen_ai_invoke_agent_duration_seconds_count).toBe('1');
  expect(values['gen_ai_invoke_agent_duration_seconds_bucket{le="+Inf"}']).toBe('1');
});

test('none of it is there unless it is asked for', async () => {
  const { url } = unwatched;
  const statuses = ['/healthz', '/readyz', '/metrics'].map((path) => answerOf(`${url}${path}`, bearer));
  expect((await Promise.all(statuses)).map(({ status }) => status)).toEqual([404, 404, 404]);
});
