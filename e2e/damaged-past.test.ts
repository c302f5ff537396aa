import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { AnyEvent } from '@groundcrew/protocol';
import { liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const program = fileURLToPath(new URL('../packages/cli/bin/groundcrew.js', import.meta.url));
const long = 'A long answer. '.repeat(2000);

test('what is damaged before a snapshot is left out and named, the rest is served, and the session goes on', async () => {
  const { home, model, sessionId, whole } = await damagedSession('past', '"content":"first answer"');

  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home }));
  const session = await client.resume(sessionId, { ...providerOf(model), disableResume: true });
  const readable = whole.filter(({ data }) => (data as { content?: unknown }).content !== 'first answer');
  expect((await session.stored()).slice(0, readable.length)).toEqual(readable);
  expect((await session.next('session.warning')).data).toEqual({
    warningType: 'store_damaged',
    message: expect.stringMatching(
      /^What this session wrote as record \d+ cannot be read and is left out; .* Run `groundcrew doctor`\.$/,
    ),
  });
  const { events } = await session.call<{ events: readonly AnyEvent[] }>('session.eventLog.read');
  expect(events.slice(0, readable.length)).toEqual(readable);
  expect(story(await session.turn('Three'))).toContain('assistant.message "third answer"');
  expect(model.requests.at(-1)?.body.messages.map(({ content }) => content)).toContain('first answer');
  const warnings = session.events.filter(({ type }) => type === 'session.warning');
  expect(warnings).toHaveLength(1);
});

test('a damaged snapshot is done without: the session opens whole and goes on, now and after the next start', async () => {
  const { home, model, sessionId, whole } = await damagedSession('snapshot', '"lastEventId":"');
  model.play(say('fourth answer'));

  for (const [prompt, reply] of [
    ['Three', 'third answer'],
    ['Four', 'fourth answer'],
  ] as const) {
    const process = runtime.spawn({ flags: ['--stdio'], home });
    const client = await runtime.connect(process);
    const session = await client.resume(sessionId, { ...providerOf(model), disableResume: true });
    expect((await session.stored()).slice(0, whole.length)).toEqual(whole);
    expect(story(await session.turn(prompt))).toContain(`assistant.message "${reply}"`);
    await process.signal('SIGKILL');
  }
  const roles = ['system', 'user', 'assistant', 'user', 'assistant', 'user', 'assistant', 'user'];
  expect(model.requests.at(-1)?.body.messages.map(({ role }) => role)).toEqual(roles);
});

test('the doctor names what is missing, puts the store in order without cutting the session short, and is content', async () => {
  const { home, model, sessionId, whole } = await damagedSession('doctor', '"content":"first answer"');

  const name = `Session ${sessionId}`;
  expect(doctor(home, '--check')).toMatchObject({
    status: 1,
    stdout: expect.stringMatching(`problem: ${name}: record \\d+ cannot be read; the rest is whole`),
  });
  expect(doctor(home)).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(`${name} goes on without record \\d+\\.\n[^]*The store is in order\\.\n$`),
  });
  expect(doctor(home)).toMatchObject({ status: 0, stdout: expect.stringContaining(`note: ${name}: record`) });

  const client = await runtime.connect(runtime.spawn({ flags: ['--stdio'], home }));
  const session = await client.resume(sessionId, { ...providerOf(model), disableResume: true });
  expect((await session.stored()).slice(0, whole.length - 1)).toEqual(
    whole.filter(({ data }) => (data as { content?: unknown }).content !== 'first answer'),
  );
  expect(story(await session.turn('Three'))).toContain('assistant.message "third answer"');
});

/** A session of two turns in a home of its own, with a snapshot, whose text was damaged after its process had ended. */
async function damagedSession(name: string, text: string) {
  const home = join(runtime.home.path, name);
  mkdirSync(home);
  const model = runtime.script(say('first answer'), say(long), say('third answer'));
  const writer = runtime.spawn({ flags: ['--stdio'], home });
  const written = await (await runtime.connect(writer)).create(providerOf(model));
  await written.turn('One');
  await written.turn('Two');
  const whole = await written.stored();
  await writer.signal('SIGTERM');
  damage(join(home, 'groundcrew.db'), text);
  return { home, model, sessionId: written.sessionId, whole };
}

function doctor(home: string, ...flags: readonly string[]) {
  return spawnSync(process.execPath, [program, 'doctor', ...flags], {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, GROUNDCREW_HOME: home },
  });
}

/** Overwrites two characters before the last one of the text, wherever the store's file has it. */
function damage(file: string, text: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf(text);
  expect(at).toBeGreaterThan(0);
  writeFileSync(file, bytes.fill('X', at + text.length - 3, at + text.length - 1));
}
