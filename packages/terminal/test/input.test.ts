import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hold, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import type { TestScreen } from './screen.js';
import { terminalWorld } from './world.js';

const world = terminalWorld();
const idle = 'Ask, or / for commands';

/** What is written where the next prompt is. */
function promptOf(screen: TestScreen): string | undefined {
  return screen.rows.findLast((row) => row.startsWith('❯ '));
}

/** What the model was sent last. */
function lastAsked(): string {
  return JSON.stringify(world.model.requests.at(-1)?.body.messages.at(-1));
}

test('what stands behind @ may be no file at all: too long for a name, a link to itself', async () => {
  symlinkSync('around', join(world.directory, 'around'));
  const screen = await world.attach([say('First.'), say('Second.')]);
  screen.enter(`Look @${'long'.repeat(100)}`);
  await screen.sees('First.');
  await screen.sees(idle);
  screen.enter('Look @around and ~/@around/x.png');
  await screen.sees('Second.');
  await screen.sees(idle);
  expect(screen.text).not.toContain('  + ');
});

test('files of odd names are completed and go along: quotes, brackets, links', async () => {
  const folder = join(world.directory, 'odd');
  mkdirSync(folder);
  for (const name of ['copy (1)', 'draft(2)', 'say "hi" now.txt', "it's.txt", 'two\nlines.txt', 'real.txt'])
    writeFileSync(join(folder, name), name);
  symlinkSync('real.txt', join(folder, 'linked.txt'));
  symlinkSync('.', join(folder, 'same'));
  symlinkSync('nowhere', join(folder, 'dangling.txt'));
  const screen = await world.attach();
  for (const [typed, completed, name] of [
    ['copy', '@"odd/copy (1)"', 'copy (1)'],
    ['draft', '@odd/draft(2)', 'draft(2)'],
    ['say', '@"odd/say \\"hi\\" now.txt"', 'say \\"hi\\" now.txt'],
    ["it's", "@odd/it's.txt", "it's.txt"],
    ['linked', '@odd/linked.txt', 'linked.txt'],
  ] as const) {
    world.model.play(say(`Seen ${typed}.`));
    screen.type(`@odd/${typed}`);
    await screen.sees(`▸ ${completed}`);
    screen.type('\t');
    await screen.until(completed, () => promptOf(screen) === `❯ ${completed}`);
    screen.type('\r');
    await screen.sees(`Seen ${typed}.`);
    await screen.sees(idle);
    expect(lastAsked().replaceAll('\\\\', '\\').replaceAll('\\"', '"')).toContain(
      `/odd/${name.replaceAll('\\"', '"')} (1 lines)`,
    );
  }
  // A link is offered, and not entered; what cannot be written on a line is not offered.
  screen.type('@odd/same');
  await screen.sees('▸ @odd/same/');
  screen.type('\u0015@odd/');
  await screen.sees('▸ @odd/');
  expect(screen.rows.join('\n')).not.toMatch(/two|dangling|same\/[^\s]/);
});

test('what is entered after a command that opens a session is meant for that session', async () => {
  const screen = await world.attach([say('First.'), say('Of the new one.')]);
  screen.enter('One');
  await screen.sees('First.');
  await screen.sees(idle);
  screen.type('/new\rWho are you?\r');
  await screen.sees('Of the new one.');
  expect(JSON.stringify(world.model.requests.at(-1)?.body.messages)).not.toContain('First.');
  world.model.play(say('Of the fork.'));
  await screen.sees(idle);
  screen.type('/fork 1\r');
  await screen.until('the prompt again', () => promptOf(screen) === '❯ Who are you?');
  screen.type('\r');
  await screen.sees('Of the fork.');
});

test('what a terminal says of itself is not typed, in one piece or in several', async () => {
  const screen = await world.attach();
  for (const piece of [
    '\u001b]11;rgb:ffff/ffff/ffff\u001b\\',
    '\u001b]10;rgb:0000/',
    '1111/ffff\u0007',
    '\u001bP>|xterm(370)\u001b\\',
    '\u001b[?64;1;2c\u001b[I\u001b[O\u001b[12;4R\u001b[?2026;1$y\u001b[<0;3;4M',
  ])
    screen.type(piece);
  screen.type('heard');
  await screen.until('what was typed', () => promptOf(screen) === '❯ heard');
});

test('keys that newer terminals tell apart are the keys they are', async () => {
  const screen = await world.attach([say('Sent.')]);
  // Shift-Space, a digit and a sign of the number pad, Shift-Enter in both notations.
  screen.type('a\u001b[32;2ub\u001b[57400u\u001b[57413u\u001b[13;2uc\u001b[27;2;13~d');
  await screen.until('three lines', () => screen.rows.some((row) => row === '  d'));
  expect(screen.rows.filter((row) => /^(?:❯ {1}|\s{2})[acd]/.test(row))).toEqual(['❯ a b1+', '  c', '  d']);
  screen.type('\u001b[57414u');
  await screen.sees('Sent.');
  await screen.sees(idle);
  // Ctrl-C where the layout is Cyrillic.
  screen.type('\u001b[1089::99;5u');
  await screen.sees('Ctrl-C again to leave');
});

test('what is waited for is shown with the time since it began, on a screen that came later too', async () => {
  const held = hold(say('Late.'));
  const screen = await world.attach([held.reply]);
  screen.enter('Go');
  await screen.sees('waiting for the model, 3 s');
  const [, id = ''] = /session ([\w-]+)/.exec(screen.text) ?? [];
  const other = await world.attach([], { args: ['--resume', id] });
  await other.sees('waiting for the model');
  const [, seconds = ''] = /waiting for the model, (\d+) s/.exec(other.text) ?? [];
  expect(Number(seconds)).toBeGreaterThanOrEqual(3);
  held.release();
  await other.sees('Late.');
});
