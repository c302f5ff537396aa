import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readShellCommand } from '../shell-command.js';

const kilobytes = 128 * 1024;
const filled = (piece: string, length: number) =>
  piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
const pieces = [
  '{,',
  '{a,',
  'ab ',
  '$(',
  '$x ',
  '`',
  '"$(',
  '<<E ',
  '$((',
  '(',
  '{ ',
  'a;',
  'a|',
  '[[ ',
  '${',
  '<(',
  'a=(',
  '* ',
  '`a` ',
  'tmux ',
  'firejail x ',
  'eval ',
  'xargs ',
  "bash -c 'ls';",
  'cd a;',
  '>a ',
  'if ',
  'case x in ',
  'a',
  "'",
  '\\',
  '\n',
  '/',
  'http://',
  'a=b,c:d ',
];

/** The processor time of this thread so far, in milliseconds: others may use the machine, and the process. */
function threadTime(): number {
  if (existsSync(schedule)) return Number(readFileSync(schedule, 'latin1').split(' ')[0]) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

const schedule = '/proc/thread-self/schedstat';

/** Milliseconds to read a text: the least of four runs, for the first ones compile. */
function timeToRead(text: string): number {
  const times = Array.from({ length: 4 }, () => {
    const before = threadTime();
    readShellCommand(text);
    return threadTime() - before;
  });
  return Math.min(...times);
}

test.each(pieces)('a text of nothing but %j takes no time to be read, however long it is', (piece) => {
  for (const length of [250, 1000, 3000, 8000, kilobytes])
    expect(timeToRead(filled(piece, length)), `${length} characters`).toBeLessThanOrEqual(20);
});

test.each(['{,', '$(', 'ls ', 'a;'])('128 KB of %j are not understood, and hide what they run', (piece) => {
  const text = filled(piece, kilobytes);
  const { canOfferSessionApproval, hidesCommands, isUnread, commands } = readShellCommand(text);
  expect({ canOfferSessionApproval, hidesCommands, isUnread, commands }).toEqual({
    canOfferSessionApproval: false,
    hidesCommands: true,
    isUnread: true,
    commands: [{ identifier: text, readOnly: false }],
  });
});
