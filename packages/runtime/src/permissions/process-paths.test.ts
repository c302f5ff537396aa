import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { judge, type PolicyRules } from './policy.js';
import { noSwitches } from './settings.js';
import { shellRequest } from './shell-command.js';
import { examine } from './subject.js';

const work = realpathSync(mkdtempSync(join(tmpdir(), 'process-paths-')));
mkdirSync(join(work, 'private'));
for (const name of ['f', 'private/x', '.env']) writeFileSync(join(work, name), 'text');
symlinkSync('/proc/self/cwd', join(work, 'here'));
symlinkSync('here', join(work, 'again'));
symlinkSync('/proc/self/fd', join(work, 'open'));
symlinkSync('f', join(work, 'plain'));
afterAll(() => rmSync(work, { recursive: true }));

const deny = [
  { kind: 'path', argument: 'private' },
  { kind: 'path', argument: '**/.env' },
];
const rules: PolicyRules = {
  deny,
  unenforcedRules: deny,
  allow: [],
  approvals: [],
  ...noSwitches,
  mode: 'allow-all',
  canAsk: true,
  directories: [work],
};

async function judged(command: string, more: Partial<PolicyRules> = {}): Promise<string> {
  const request = shellRequest({ command, intention: '' });
  const subject = await examine({ request }, { toolName: 'bash', workingDirectory: work });
  return judge(subject, { ...rules, ...more }).type;
}

test
  .skipIf(process.platform !== 'linux')
  .each([
    'cat /proc/self/cwd/private/x',
    'cat /proc/thread-self/cwd/private/x',
    'cat /proc/self/task/self/cwd/private/x',
    'cat /proc/1/cwd/private/x',
    'head -c 9 /proc/self/cwd/.env',
    'cat /dev/fd/../cwd/private/x',
    'cat /dev/fd/3',
    'cat here/private/x',
    'cat again/private/x',
    'cat here/f',
    'cat open/3',
    'wc -c here/*',
  ])('%j leads where only the process that runs it knows, so it is asked about', async (command) => {
  expect(await judged(command)).not.toBe('allow');
  expect(await judged(command, { deny: [], unenforcedRules: [], mode: 'assisted' })).toBe('ask');
});

test.each(['cat f', 'cat plain', 'head -1 ./plain', `cat ${join(work, 'f')}`])(
  '%j leads to one place',
  async (command) => {
    expect(await judged(command)).toBe('allow');
    expect(await judged(command, { deny: [], unenforcedRules: [], mode: 'assisted' })).toBe('allow');
  },
);
