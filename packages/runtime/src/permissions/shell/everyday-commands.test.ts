import { mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { judge, type PolicyRules } from '../policy.js';
import { noSwitches } from '../settings.js';
import { shellRequest } from '../shell-command.js';
import { examine } from '../subject.js';

const workingDirectory = realpathSync(mkdtempSync(join(tmpdir(), 'everyday-')));
afterAll(() => rmSync(workingDirectory, { recursive: true }));

/** What each command must be: its class, the approval that covers it, and its text. */
const corpus = readFileSync(join(import.meta.dirname, 'everyday-commands.tsv'), 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => line.split('\t') as [string, string, string]);

const rules: PolicyRules = {
  deny: [],
  allow: [],
  approvals: [],
  mode: 'manual',
  ...noSwitches,
  canAsk: true,
  directories: [workingDirectory],
};

test('every everyday command has the class it must have, and is covered by the approval it must be covered by', async () => {
  const found = await Promise.all(
    corpus.map(async ([, , command]) => [...(await classOf(command)), command]),
  );
  expect(found).toEqual(corpus);
});

test('there are at least 300 of them, of every class', () => {
  const classes = corpus.map(([name]) => name);
  expect(corpus.length).toBeGreaterThanOrEqual(300);
  expect([...new Set(classes)].sort()).toEqual(['asked', 'covered', 'read-only']);
});

async function classOf(command: string): Promise<readonly [string, string]> {
  const request = shellRequest({ command, intention: '' });
  const commandIdentifiers = request.commands.map(({ identifier }) => identifier);
  const subject = await examine({ request }, { toolName: 'bash', workingDirectory });
  const approval = commandIdentifiers.join(' + ');
  if (judge(subject, { ...rules, mode: 'assisted' }).type === 'allow') return ['read-only', approval];
  const approvals = [{ kind: 'commands', commandIdentifiers }];
  const isCovered =
    request.canOfferSessionApproval && judge(subject, { ...rules, approvals }).type === 'allow';
  return isCovered ? ['covered', approval] : ['asked', '-'];
}
