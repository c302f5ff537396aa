import { execFileSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { judge, type PolicyRules } from '../policy.js';
import { noSwitches } from '../settings.js';
import { shellRequest } from '../shell-command.js';
import { examine } from '../subject.js';

// A repository with links to a file that lead out, `l` and `d/link`, links to a directory that do, and files that are named like options.
const work = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-')));
const outside = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-outside-')));
execFileSync('git', ['init', '-q'], { cwd: work });
mkdirSync(join(work, 'd'));
for (const name of ['f', '-oX']) writeFileSync(join(work, name), 'x');
for (const name of ['l', 'd/link', '--args']) symlinkSync('/etc/passwd', join(work, name));
for (const name of ['out', 'out.git']) symlinkSync(outside, join(work, name));
afterAll(() => {
  for (const place of [work, outside]) rmSync(place, { recursive: true });
});

/** What each command must not be, and its text; a line break is written as ⏎. */
const corpus = readFileSync(join(import.meta.dirname, 'hostile-commands.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t') as [string, string])
  .map(([kind, text]) => [kind, text.replaceAll('⏎', '\n')] as const);
const of = (kind: string) => corpus.flatMap(([each, text]) => (each === kind ? [text] : []));

const rules: PolicyRules = {
  deny: [],
  allow: [],
  approvals: [],
  mode: 'manual',
  ...noSwitches,
  canAsk: true,
  directories: [work],
};

async function isAllowed(command: string, more: Partial<PolicyRules>): Promise<boolean> {
  const request = shellRequest({ command, intention: '' });
  const subject = await examine({ request }, { toolName: 'bash', workingDirectory: work });
  return judge(subject, { ...rules, ...more }).type === 'allow';
}

async function allowedOf(
  commands: readonly string[],
  more: (command: string) => Partial<PolicyRules>,
): Promise<readonly string[]> {
  const found = await Promise.all(commands.map((command) => isAllowed(command, more(command))));
  return commands.filter((_, index) => found[index]);
}

test('what runs, writes or reads elsewhere never counts as reading', async () => {
  expect(of('unasked').length).toBeGreaterThan(500);
  expect(await allowedOf(of('unasked'), () => ({ mode: 'assisted' }))).toEqual([]);
});

test('an approval of a name does not cover options that run something else or lead elsewhere', async () => {
  const approvalOf = (command: string) => {
    const names = shellRequest({ command, intention: '' }).commands.map(({ identifier }) => identifier);
    const shorter = names.flatMap((name) => [1, 2].map((count) => name.split(' ').slice(0, count).join(' ')));
    // Who approves the whole text has seen all of it.
    const commandIdentifiers = [...names, ...shorter].filter((name) => name !== command);
    return { approvals: [{ kind: 'commands', commandIdentifiers }] };
  };
  expect(of('covered').length).toBeGreaterThan(340);
  expect(await allowedOf(of('covered'), approvalOf)).toEqual([]);
});
