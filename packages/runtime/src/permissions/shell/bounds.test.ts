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

/** Whether some run takes at most 20 ms of processor time: others may use the machine, and the first ones compile. */
function isQuick(text: string): boolean {
  for (let run = 0; run < 16; run++) {
    const before = process.cpuUsage();
    readShellCommand(text);
    const { user, system } = process.cpuUsage(before);
    if (user + system <= 20_000) return true;
  }
  return false;
}

test.each(pieces)('a text of nothing but %j takes no time to be read, however long it is', (piece) => {
  for (const length of [250, 1000, 3000, 8000, kilobytes])
    expect({ length, isQuick: isQuick(filled(piece, length)) }).toEqual({ length, isQuick: true });
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
