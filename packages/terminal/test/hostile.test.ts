import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { answer, callTools, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { terminalWorld } from './world.js';

const world = terminalWorld();
const idle = 'Ask, or / for commands';

const sequences =
  'a\u001b[2Jb\u001b]0;title\u0007c\u009b3Jd\u202egnp.exe\u001b[?1049h\u001bPq#0\u001b\\e\u001b]52;c;eA==\u0007\u009d52;c;eA==\u009c\u001b[9;9H\u200f';
const steering =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: sequences of terminals
  /\u001b\[[23]J|\u001bc|\u001b\[\?1049h|\u001b[\]P]|\u001b\[9;9H|[\u0080-\u009f\u200f\u202e]/;

test('thoughts that arrive, todos, names of models, servers, agents and skills cannot steer the terminal', async () => {
  const skills = join(world.directory, '.github', 'skills', 'odd');
  mkdirSync(skills, { recursive: true });
  writeFileSync(
    join(skills, 'SKILL.md'),
    `---\nname: odd\ndescription: ${JSON.stringify(sequences)}\n---\nDo it.\n`,
  );
  const todo = `INSERT INTO todos (id, title, status) VALUES ('t1', '${sequences.replaceAll("'", '')}', 'in_progress')`;
  const screen = await world.attach([
    answer({
      reasoning: Array.from({ length: 3_000 }, (_, at) => `${at} ${sequences}\n${at} ${sequences}`),
      chunks: ['Thought.'],
    }),
    callTools({ id: 't1', name: 'sql', arguments: { query: todo, description: sequences } }),
    say('Noted.'),
  ]);
  screen.enter('Think');
  await screen.sees('Thought.');
  await screen.sees(idle);
  screen.enter('Note it');
  await screen.until('an answer', () => /Noted\.|Yes, once/.test(screen.text));
  if (!screen.text.includes('Noted.')) screen.type('y');
  await screen.sees('Noted.');
  await screen.sees(idle);
  for (const [command, words] of [
    ['/todos', '◐'],
    ['/skills', 'odd'],
    ['/agent', 'Which agent leads?'],
  ] as const) {
    screen.mark();
    screen.enter(command);
    await screen.sees(words);
    if (words.endsWith('?')) screen.type('\u001b');
    await screen.sees(idle);
  }
  screen.enter('/todos');
  await screen.sees('◐');
  const id = /session ([0-9a-f-]{36})/.exec(screen.lines.join('\n'))?.[1] ?? '';
  const connection = RuntimeConnection.forUri(String(await world.port()), { connectionToken: 'open sesame' });
  await using client = new Client({ connection });
  const session = await client.resumeSession(id, { disableResume: true });
  await session.call('session.name.set', { name: sequences }).catch(() => undefined);
  await session.setModel(`odd ${sequences}`).catch(() => undefined);
  screen.mark();
  screen.enter('/model');
  await screen.sees('The model is');
  screen.type('\u001b');
  await screen.sees(idle);
  screen.enter('/sessions');
  await screen.sees(id);
  expect(steering.exec(screen.raw)).toBe(null);
});

test('prompts of earlier sessions are read from a file that is broken, huge, no file or not to be read', async () => {
  const file = join(world.home.path, 'groundcrew', 'prompts.jsonl');
  rmSync(file, { force: true });
  writeFileSync(file, `not json\n{"a":1}\n"kept before"\n\u0000\u0000\n"cut off`);
  let screen = await world.attach([say('First.')]);
  screen.type('\u001b[A');
  await screen.sees('❯ kept before');
  screen.type('\u0015after it\r');
  await screen.sees('First.');
  await screen.sees(idle);
  screen.enter('/quit');
  expect(await screen.ended).toBe(0);
  // What was cut off takes nothing of what comes after it along.
  screen = await world.attach();
  screen.type('\u001b[A\u001b[A');
  await screen.sees('❯ after it');
  screen.type('\u001b[A');
  await screen.sees('❯ kept before');
  await screen.kill();

  const line = `${JSON.stringify('x'.repeat(9_000))}\n`;
  rmSync(file);
  for (let written = 0; written < 64; written += 1) appendFileSync(file, line.repeat(116));
  appendFileSync(file, '"the last"\n');
  const huge = statSync(file).size;
  screen = await world.attach([say('Small again.')]);
  screen.type('\u001b[A');
  await screen.sees('❯ the last');
  screen.type('\u0015more\r');
  await screen.sees('Small again.');
  screen.enter('/quit');
  await screen.ended;
  expect(statSync(file).size).toBeLessThan(huge / 4);
  expect(readFileSync(file, 'utf8').trim().split('\n').slice(-3)).toEqual([
    '"the last"',
    '"more"',
    '"/quit"',
  ]);

  for (const make of [() => execFileSync('mkfifo', [file]), () => mkdirSync(file)]) {
    rmSync(file, { recursive: true, force: true });
    make();
    screen = await world.attach([say('Works.')]);
    screen.enter('Go');
    await screen.sees('Works.');
    screen.enter('/quit');
    expect(await screen.ended).toBe(0);
  }
  rmSync(file, { recursive: true, force: true });
});
