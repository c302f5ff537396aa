import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { AnyEvent } from '@groundcrew/protocol';
import {
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  say,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const long = 'x'.repeat(2000);
const systemMessage = { mode: 'replace', content: 'You are a parrot.' };
const wires = [
  ['chat completions', { type: 'openai', wireApi: 'completions' }],
  ['responses', { type: 'openai', wireApi: 'responses' }],
  ['messages', { type: 'anthropic' }],
] as const;

/** A session on a wire, without tools and with a short system prompt, so that sizes are those of the conversation. */
async function smallSession(wire: object, model: ScriptedModel, more: object = {}): Promise<WireSession> {
  const { provider, ...rest } = providerOf(model);
  return runtime.client.create({
    ...rest,
    provider: { ...provider, ...wire },
    excludedTools: ['builtin:*'],
    toolFilterPrecedence: 'excluded',
    systemMessage,
    requestPermission: true,
    // What happens where no summary is made.
    infiniteSessions: { enabled: false },
    ...more,
  });
}

const warnings = (events: readonly AnyEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { warningType: string; message: string }).warningType] : [],
  );
const errors = (events: readonly AnyEvent[]) =>
  events.flatMap(({ type, data }) =>
    type === 'session.error' ? [(data as { message: string }).message] : [],
  );
const sizes = (model: ScriptedModel) =>
  model.requests.map(({ body }) => JSON.stringify(body.messages ?? body.input).length);
const conversation = (model: ScriptedModel) => {
  const body = model.requests.at(-1)?.body;
  return JSON.stringify(body?.messages ?? body?.input);
};

describe.each(wires)('a full window, on the wire of %s', (_, wire) => {
  test('leaves the oldest rounds out, with a warning, and the session goes on', async () => {
    const model = runtime.script(...Array.from({ length: 10 }, (_, index) => say(`answer ${index}`)));
    model.limit(12_000);
    const session = await smallSession(wire, model);
    for (let index = 0; index < 10; index++) {
      const events = await session.turn(`prompt ${index} ${long}`);
      expect(errors(events)).toEqual([]);
    }
    expect(conversation(model)).toContain('prompt 9');
    expect(conversation(model)).not.toContain('prompt 0');
    expect(JSON.stringify(model.requests.at(-1)?.body)).toContain('You are a parrot.');
    // Each cut makes room for several prompts, so that what is cached can be used.
    expect(warnings(session.events)).toEqual(['context_window', 'context_window']);
    const stored = JSON.stringify(await session.stored());
    expect(stored).toContain('prompt 0');
    expect(stored).toContain('answer 0');
  });

  test('in the middle of a long turn leaves its oldest rounds out and keeps its prompt', async () => {
    const calls = Array.from({ length: 12 }, (_, index) =>
      callTools({ name: 'look', arguments: { place: index }, id: `call_${index}` }),
    );
    const model = runtime.script(...calls, say('done'));
    model.limit(12_000);
    const tools = [
      { name: 'look', description: 'Looks', parameters: { type: 'object' }, skipPermission: true },
    ];
    const session = await smallSession(wire, model, { tools, excludedTools: ['builtin:*'] });
    await session.send('Look everywhere');
    for (let index = 0; index < 12; index++) {
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, { result: `place ${index} ${long}` });
    }
    const events = await session.untilIdle();
    expect(errors(session.events)).toEqual([]);
    expect(events.findLast(({ type }) => type === 'assistant.message')?.data).toMatchObject({
      content: 'done',
    });
    expect(conversation(model)).toContain('Look everywhere');
    expect(conversation(model)).not.toContain('place 0 ');
    expect(conversation(model)).toContain('place 11 ');
    model.play(say('more'));
    expect(errors(await session.turn('And now?'))).toEqual([]);
  });

  test('has no room for a prompt: the error says so, and the next prompt finds the history as it was', async () => {
    const model = runtime.script(say('one'), say('two'), say('three'));
    model.limit(12_000);
    const session = await smallSession(wire, model);
    await session.turn('first prompt');
    await session.turn('second prompt');
    const [error, ...others] = errors(await session.turn(`huge prompt ${'x'.repeat(20_000)}`));
    expect(error).toMatch(
      /The prompt is too large for the window of scripted \(about 50\d\d tokens.*send less at once, or choose a model/,
    );
    expect(others).toEqual([]);
    const events = await session.turn('third prompt');
    expect(errors(events)).toEqual([]);
    expect(warnings(session.events)).toEqual([]);
    for (const text of ['first prompt', 'second prompt', 'third prompt'])
      expect(conversation(model)).toContain(text);
    expect(conversation(model)).not.toContain('huge prompt');
  });
});

test('a window that is known is not overrun: the model is not asked in vain', async () => {
  const model = runtime.script(...Array.from({ length: 20 }, (_, index) => say(`answer ${index}`)));
  const session = await smallSession({}, model, {
    modelCapabilities: { limits: { max_prompt_tokens: 2500 } },
  });
  for (let index = 0; index < 20; index++) await session.turn(`prompt ${index} ${long}`);
  expect(model.requests).toHaveLength(20);
  // Services count as they count: an estimate may be wrong by half.
  expect(Math.max(...sizes(model))).toBeLessThan(2500 * 4 * 2 * 1.2);
  expect(warnings(session.events).length).toBeGreaterThan(1);
  expect(new Set(warnings(session.events))).toEqual(new Set(['context_window']));
});

test('a limit that prompt and tools alone exceed is not believed', async () => {
  const model = runtime.script(say('one'), say('two'));
  const session = await smallSession({ maxPromptTokens: 1 }, model);
  await session.turn('first prompt');
  await session.turn('second prompt');
  expect(conversation(model)).toContain('first prompt');
  expect(warnings(session.events)).toEqual([]);
});

test('another process and another model: the view of one is kept, the other sees everything', async () => {
  const model = runtime.script(...Array.from({ length: 6 }, (_, index) => say(`answer ${index}`)));
  model.limit(9000);
  const session = await smallSession({}, model);
  for (let index = 0; index < 6; index++) await session.turn(`prompt ${index} ${long}`);
  expect(warnings(session.events)).toEqual(['context_window']);
  await session.call('session.destroy');
  const { stdout } = await promisify(execFile)(process.execPath, [program, 'replay', session.sessionId], {
    env: { PATH: process.env.PATH, GROUNDCREW_HOME: runtime.home.path },
  });
  expect(stdout).toMatch(/the same/i);
  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'] }));
  const { provider } = providerOf(model);
  const again = await client.resume(session.sessionId, { provider, systemMessage });
  model.play(say('again'));
  const before = model.requests.length;
  await again.turn('short');
  expect(model.requests).toHaveLength(before + 1);
  expect(conversation(model)).not.toContain('prompt 0');
  model.limit(100_000);
  model.play(say('all of it'));
  await again.call('session.model.switchTo', { modelId: 'larger' });
  await again.turn('and now');
  expect(conversation(model)).toContain('prompt 0');
});
