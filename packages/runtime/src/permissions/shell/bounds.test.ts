import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { readShellCommand, shellRequest } from '../shell-command.js';
import { examine } from '../subject.js';

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
  const times = Array.from({ length: 4 }, (_, run) => {
    // The same text would not be read again.
    const other = `${' '.repeat(run + 1)}${text}`;
    const before = threadTime();
    readShellCommand(other);
    return threadTime() - before;
  });
  return Math.min(...times);
}

test.each(pieces)('a text of nothing but %j takes no time to be read, however long it is', (piece) => {
  for (const length of [250, 1000, 3000, 8000, kilobytes])
    expect(timeToRead(filled(piece, length)), `${length} characters`).toBeLessThanOrEqual(20);
});

test.each([
  ["sed -n '", '\r', "x' f"],
  ["sed -n '", '\v', "x' f"],
  ["sed -n '1,", '1', "x' f"],
  ["sed 's/", 'a', "' f"],
  ["awk '", '1/', "' f"],
  ["awk '", '"', "' f"],
  ["jq 'env", '\r', "x' f"],
  ["git log --format='", '%', "'"],
  ['git config ', 'a.', '!'],
  ["trap '", 'ls;', "'"],
  ['date ', '-d ', ''],
  ['kill -', 'A', '!'],
  ['curl ', 'a.', '!'],
])('what stands between %j and its end takes no time to be read: %j', (start, piece, end) => {
  for (const length of [1000, 2600, 8000])
    expect(timeToRead(start + filled(piece, length) + end), `${length} characters`).toBeLessThanOrEqual(20);
});

test.each(['a/'.repeat(200), `/${'*'.repeat(256)}`, `${'*/'.repeat(150)}`])(
  'a word that takes long to look up leads to unknown places',
  async (word) => {
    const request = shellRequest({ command: `cat ${word}`, intention: '' });
    const { paths } = await examine({ request }, { toolName: 'bash', workingDirectory: '/' });
    expect(paths.map(({ names }) => names)).toContainEqual([]);
  },
);

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
