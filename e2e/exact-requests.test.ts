import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { answer, hold, liveRuntime, refuse, type ScriptedReply, say } from '@groundcrew/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { RecordingProxy } from './recording-proxy.js';
import { runtimePath } from './sdk-world.js';

const runtime = liveRuntime();
const proxies: RecordingProxy[] = [];
afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.close())));

/** What `groundcrew sessions show` prints, and what it says besides. */
async function shown(sessionId: string, turn: string, environment: Readonly<Record<string, string>> = {}) {
  return promisify(execFile)(
    process.execPath,
    [runtimePath, 'sessions', 'show', sessionId, '--request', turn],
    {
      env: { PATH: process.env.PATH, GROUNDCREW_HOME: runtime.home.path, ...environment },
      encoding: 'buffer',
      maxBuffer: 64 * 1024 * 1024,
    },
  );
}

const requestOf = async (sessionId: string, turn: string) => (await shown(sessionId, turn)).stdout;

interface Service {
  readonly provider: Readonly<Record<string, unknown>>;
  readonly model: string;
}

async function sessionThrough(
  { provider, model: name }: Service,
  replies: readonly ScriptedReply[],
  params: Readonly<Record<string, unknown>> = {},
) {
  const model = runtime.script(...replies);
  const proxy = await RecordingProxy.open(model.baseUrl);
  proxies.push(proxy);
  const session = await runtime.client.create({
    model: name,
    provider: { apiKey: 'key-of-the-tests', baseUrl: proxy.baseUrl, ...provider },
    ...params,
  });
  return { session, model, proxy };
}

const chat: Service = { provider: {}, model: 'scripted' };
const look = { name: 'look', description: 'Looks', parameters: { type: 'object' }, skipPermission: true };

/** Every request of the session, as stored, is what the service received. */
async function expectExact(sessionId: string, { bodies }: RecordingProxy): Promise<void> {
  for (const [index, body] of bodies.entries())
    expect(String(await requestOf(sessionId, String(index + 1)))).toBe(String(body));
}

describe('the request of a stored turn is printed byte by byte as it was sent', () => {
  test.each<readonly [string, Service]>([
    ['chat completions', chat],
    ['responses', { provider: { type: 'openai', wireApi: 'responses' }, model: 'gpt-5-mini' }],
    ['messages', { provider: { type: 'anthropic' }, model: 'claude-sonnet-4-5' }],
  ])('by %s: thoughts, calls, results, images, another model name, limits', async (_, service) => {
    const thinks = answer({
      reasoning: ['Hm'],
      chunks: ['I look.'],
      calls: [
        { id: 'call_1', name: 'look', arguments: { at: 'a' } },
        { id: 'call_2', name: 'look', arguments: { at: 'b' } },
      ],
    });
    const { session, proxy } = await sessionThrough(
      { ...service, provider: { ...service.provider, maxOutputTokens: 4000 } },
      [thinks, say('done'), say('more')],
      { tools: [look], sessionLimits: { maxTokens: 900_000 }, streaming: true },
    );
    await session.send('Look');
    for (const _each of [1, 2]) {
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, { result: 'a tree \u2028 "ü" \ud83d' });
    }
    await session.next('session.idle');
    const data = Buffer.from('not really').toString('base64');
    await session.turn('See', { attachments: [{ type: 'blob', data, mimeType: 'image/png' }] });
    expect(proxy.bodies).toHaveLength(3);
    await expectExact(session.sessionId, proxy);
    expect(await requestOf(session.sessionId, 'last')).toEqual(proxy.bodies.at(-1));
  });

  test('with tools, prompt and model that change between turns, and after another process has it', async () => {
    const { session, proxy, model } = await sessionThrough(
      chat,
      Array.from({ length: 4 }, () => say('ok')),
    );
    await session.turn('One');
    await session.call('session.options.update', { excludedTools: ['bash'] });
    writeFileSync(join(runtime.workingDirectory, 'AGENTS.md'), 'Be brief.');
    await session.turn('Two');
    writeFileSync(join(runtime.workingDirectory, 'AGENTS.md'), '');
    await session.call('session.model.switchTo', { modelId: 'other' });
    await session.turn('Three');
    await session.call('session.destroy');
    const again = await runtime.client.resume(session.sessionId, {
      provider: { baseUrl: proxy.baseUrl, apiKey: 'k' },
    });
    await again.turn('Four');
    expect(model.requests).toHaveLength(4);
    await expectExact(session.sessionId, proxy);
  });

  test('when the service refused it', async () => {
    const { session, proxy } = await sessionThrough(chat, [refuse(400, 'no')]);
    await session.send('One');
    await session.next('session.idle');
    await expectExact(session.sessionId, proxy);
  });

  test('when the user ran a command while the model was asked', async () => {
    const held = hold();
    const { session, proxy } = await sessionThrough(chat, [held.reply, say('ok')]);
    await session.send('One');
    await session.next('session.usage_info');
    const command = { command: 'echo between', requestId: 'r1' };
    await session.call('session.shell.executeUserRequested', command);
    held.release();
    await session.next('session.idle');
    await session.turn('Two');
    expect(String(proxy.bodies[1])).toContain('echo between');
    await expectExact(session.sessionId, proxy);
  });
});

test('a turn is also named by the ids of its events; one that is not there is an error', async () => {
  const { session, proxy } = await sessionThrough(chat, [say('ok')]);
  await session.turn('One');
  const { id = '' } = session.events.find(({ type }) => type === 'assistant.message') ?? {};
  expect(await requestOf(session.sessionId, id)).toEqual(proxy.bodies[0]);
  const failed = shown(session.sessionId, '2').catch((error: { stderr: Buffer; code: number }) => error);
  expect(String((await failed).stderr)).toContain('There is no turn 2: the session has turns 1 to 1');
});

test('secrets are masked', async () => {
  const { session } = await sessionThrough(chat, [say('ok')]);
  await session.turn('My key is sk-abcdefghijklmnopqrstuvwx, and hunter2-hunter2.');
  const { stdout, stderr } = await shown(session.sessionId, '1', { MY_API_KEY: 'hunter2-hunter2' });
  expect(String(stdout)).toContain('My key is [redacted], and [redacted].');
  expect(String(stderr)).toContain('secrets are masked');
});

test('a session grows by the same for each turn, however long it is', async () => {
  const turns = 60;
  const { session } = await sessionThrough(
    chat,
    Array.from({ length: turns }, () => say('ok '.repeat(200))),
  );
  const sizes: number[] = [];
  for (let turn = 0; turn < turns; turn++) {
    await session.turn('word '.repeat(200));
    if (turn % 20 === 19) sizes.push(await storedBytes(session.sessionId));
  }
  const [first = 0, second = 0, third = 0] = sizes;
  expect(Math.abs(third - second - (second - first))).toBeLessThan(2048);
  expect((third - second) / 20).toBeLessThan(6000);
});

/** Bytes of all records of a session. */
async function storedBytes(sessionId: string): Promise<number> {
  const text = await promisify(execFile)(process.execPath, ['-e', measure, storeFile(), sessionId]);
  return Number(text.stdout);
}

const storeFile = () => join(runtime.home.path, 'groundcrew.db');

const measure = `
  const { DatabaseSync } = process.getBuiltinModule?.('node:sqlite') ?? require('@groundcrew/sqlite-node20');
  const sum = 'SELECT (SELECT SUM(LENGTH(json)) FROM record WHERE session = number) AS bytes FROM session WHERE id = ?';
  console.log(new DatabaseSync(process.argv[1]).prepare(sum).get(process.argv[2]).bytes);`;
