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

/** Processor time, the least of some runs: others may use the machine. */
function milliseconds(text: string): number {
  const runs = Array.from({ length: 4 }, () => {
    const before = process.cpuUsage();
    readShellCommand(text);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...runs);
}

test.each(pieces)('a text of nothing but %j takes no time to be read, however long it is', (piece) => {
  for (const length of [250, 1000, 3000, 8000, kilobytes])
    expect({ length, isQuick: milliseconds(filled(piece, length)) <= 20 }).toEqual({ length, isQuick: true });
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
