import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { byExtent, hold, say, streamChunks } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import type { TestScreen } from './screen.js';
import { terminalWorld } from './world.js';

const world = terminalWorld();
const idle = 'Ask, or / for commands';
/** As many as are promised, in the tests that may take minutes. */
const lines = byExtent({ full: 100_000, short: 4_000 });

test(`a session of ${lines} lines is read in order, an idle screen does nothing, and a frame takes at most 16 ms of work`, {
  timeout: 120_000,
}, async () => {
  const sessionId = 'of-many-lines';
  const connection = RuntimeConnection.forUri(String(await world.port()), { connectionToken: 'open sesame' });
  await using client = new Client({ connection });
  const session = await client.createSession({ sessionId });
  world.model.play(say('Begun.'));
  await session.sendAndWait('Begin');
  for (let made = 0; made < lines; made += 2_000)
    await Promise.all(Array.from({ length: 2_000 }, (_, at) => session.log(`line ${made + at} of many`)));

  const screen = await world.attach([], { args: ['--resume', sessionId], columns: 160, patience: 60_000 });
  await screen.until('the last line', () =>
    screen.rows.some((row) => row.includes(`line ${lines - 1} of many`)),
  );
  await screen.sees(idle);
  const numbers = screen.lines.flatMap((text) => /line (\d+) of many/.exec(text)?.[1] ?? []).map(Number);
  expect(numbers).toEqual(Array.from({ length: lines }, (_, at) => at));

  // Keys, each drawn before the next: what a frame takes is what the process worked for all of them.
  const before = await rested(screen);
  const letters = 'the quick brown fox jumps over the lazy dog '.repeat(3);
  for (let at = 1; at <= letters.length; at++) {
    screen.type(letters[at - 1] ?? '');
    const typed = letters.slice(0, at).trimEnd().slice(-20);
    await screen.until('the key', () => screen.rows.some((row) => row.trimEnd().endsWith(typed)));
  }
  const frames = screen.raw.slice(before.written).split('\u001b[?2026h').length - 1;
  const worked = workOf(screen.pid) - before.work;
  if (process.env.FULL_TESTS)
    console.log(`${lines} lines: ${(worked / frames).toFixed(1)} ms of work a frame, ${frames} frames`);
  expect(frames).toBeGreaterThan(letters.length / 2);
  expect(worked / frames).toBeLessThanOrEqual(16);

  // Nothing happens: nothing is done.
  await rested(screen);
  const [from, since] = [workOf(screen.pid), performance.now()];
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  const share = (workOf(screen.pid) - from) / (performance.now() - since);
  if (process.env.FULL_TESTS)
    console.log(`${lines} lines: ${(share * 100).toFixed(1)} % of a core when idle`);
  expect(share).toBeLessThanOrEqual(0.05);
});

const files = byExtent({ full: 100_000, short: 2_000 });

test(`of ${files} files the wanted one is completed while its name is typed`, {
  timeout: 120_000,
}, async () => {
  const folder = join(world.directory, 'many');
  for (let at = 0; at < files; at += 1) {
    const place = join(folder, `part ${Math.floor(at / 500)}`);
    if (at % 500 === 0) mkdirSync(place, { recursive: true });
    writeFileSync(join(place, `file-${at}.txt`), '');
  }
  const screen = await world.attach([], { patience: 60_000 });
  const last = `many/part ${Math.floor((files - 1) / 500)}/file-${files - 1}.txt`;
  screen.type('@f');
  await screen.sees('▸ @');
  const [from, since] = [workOf(screen.pid), performance.now()];
  const word = `file-${files - 1}.txt`;
  for (let at = 1; at < word.length; at += 1) {
    screen.type(word[at] ?? '');
    const typed = `❯ @${word.slice(0, at + 1)}`;
    await screen.until('the key', () => screen.rows.some((row) => row.startsWith(typed)));
  }
  const worked = (workOf(screen.pid) - from) / (word.length - 1);
  if (process.env.FULL_TESTS)
    console.log(
      `${files} files: ${worked.toFixed(0)} ms of work a key, ${Math.round(performance.now() - since)} ms in all`,
    );
  await screen.sees(`▸ @"${last}"`);
  expect(worked).toBeLessThanOrEqual(100);
  screen.type('\t');
  await screen.sees(`❯ @"${last}"`);
});

test('through a storm of resizes every line of a long answer is there once, in order', {
  timeout: 60_000,
}, async () => {
  const answer = Array.from({ length: 400 }, (_, at) => `${at} ${'word '.repeat(5 + (at % 20)).trim()}.\n\n`);
  const held = hold(streamChunks(...answer.slice(200)));
  const screen = await world.attach([streamChunks(...answer.slice(0, 200)), held.reply], {
    columns: 100,
    rows: 24,
  });
  screen.enter('First half');
  await screen.sees('199 word');
  await screen.sees(idle);
  screen.enter('Second half');
  await screen.sees('waiting for the model');
  for (let turn = 0; turn < 60; turn++) {
    screen.resize(40 + ((turn * 37) % 90), 10 + ((turn * 7) % 30));
    if (turn === 30) held.release();
    // As often as a screen is drawn while a window is pulled by its corner.
    await new Promise((resolve) => setTimeout(resolve, 16));
  }
  screen.resize(100, 24);
  await screen.sees('399 word');
  await screen.sees(idle);
  const numbers = screen.lines.flatMap((text) => /^(\d+) word/.exec(text)?.[1] ?? []).map(Number);
  expect(numbers).toEqual(Array.from({ length: 400 }, (_, at) => at));
  const words = screen.lines.join(' ').replaceAll(/\s+/g, ' ');
  for (const at of [0, 150, 250, 399])
    expect(words).toContain(`${at} ${'word '.repeat(5 + (at % 20)).trim()}.`);
  expect(screen.lines.filter((text) => text.startsWith('❯ '))).toEqual([
    '❯ First half',
    '❯ Second half',
    `❯ ${idle}`,
  ]);
  // What Node says beside the screen would be on it.
  expect(screen.raw).not.toContain('Warning');
});

/** Waits until nothing more is drawn. */
async function rested(screen: TestScreen): Promise<{ readonly work: number; readonly written: number }> {
  for (let written = -1; written !== screen.raw.length; ) {
    written = screen.raw.length;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  return { work: workOf(screen.pid), written: screen.raw.length };
}

/** Milliseconds that a process has worked so far: user and system, in ticks of 10 ms. */
function workOf(pid: number): number {
  const [, rest = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ');
  const fields = rest.split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}
