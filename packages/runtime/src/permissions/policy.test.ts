import { expect, test } from 'vitest';
import type { PermissionQuestion } from '../tools/tool.js';
import { explainCommand } from './explain.js';
import { judge, type PolicyRules } from './policy.js';
import { shellRequest } from './shell-command.js';

const rules = (more: Partial<PolicyRules> = {}): PolicyRules => ({
  approvals: [],
  approvesAll: false,
  canAsk: true,
  directories: ['/work', '/extra'],
  ...more,
});

const shell = (command: string): PermissionQuestion => ({
  request: shellRequest({ command, intention: '' }),
});
const verdict = (question: PermissionQuestion, more: Partial<PolicyRules> = {}) =>
  judge(question, rules(more)).type;
const commands = (...commandIdentifiers: string[]) => ({
  approvals: [{ kind: 'commands', commandIdentifiers }],
});
const read: PermissionQuestion = { request: { kind: 'read', intention: '', path: '/project/a' } };

test('deny comes before allow, allow before asking, and who cannot ask denies', () => {
  const git = { kind: 'shell', argument: 'git' };
  expect(
    verdict(shell('git push'), {
      deny: [git],
      allow: [{ kind: 'shell', argument: null }],
      approvesAll: true,
    }),
  ).toBe('deny');
  expect(verdict(shell('git push'), { allow: [{ kind: 'shell', argument: 'git push' }] })).toBe('allow');
  expect(verdict(shell('git push'), { approvesAll: true })).toBe('allow');
  expect(verdict(shell('git push'))).toBe('ask');
  expect(verdict(shell('git push'), { canAsk: false })).toBe('deny');
});

test.each([
  'rm x',
  '/bin/rm x',
  "'rm' x",
  'ls && rm x',
  'sudo -u me rm x',
  'bash -c "rm x"',
  'echo $(rm x)',
  'find . -exec rm {} +',
])('a rule that denies rm denies %j', (command) => {
  expect(verdict(shell(command), { deny: [{ kind: 'shell', argument: 'rm' }], approvesAll: true })).toBe(
    'deny',
  );
});

test('a rule denies what begins with its words, and paths and addresses within commands', () => {
  const deny = (kind: string, argument: string) => ({ deny: [{ kind, argument }] });
  expect(verdict(shell('git push --force origin'), deny('shell', 'git push --force'))).toBe('deny');
  expect(verdict(shell('git push origin'), deny('shell', 'git push --force'))).toBe('ask');
  expect(verdict(shell('cat /etc/passwd'), deny('read', '/etc'))).toBe('deny');
  expect(verdict(shell('curl https://api.example.com'), deny('url', 'example.com'))).toBe('deny');
  expect(verdict(shell('curl https://notexample.com'), deny('url', 'example.com'))).toBe('ask');
});

test('an approval of commands covers those commands, wherever they stand', () => {
  expect(verdict(shell('git status'), commands('git status'))).toBe('allow');
  expect(verdict(shell('git status && git diff'), commands('git status', 'git diff'))).toBe('allow');
  expect(verdict(shell('git status && git push'), commands('git status'))).toBe('ask');
  expect(verdict(shell('./git status'), commands('git status'))).toBe('ask');
  expect(verdict(shell('cat a.txt sub/b.txt /extra/c.txt'), commands('cat'))).toBe('allow');
});

test.each([
  'cat ../outside',
  'cat /etc/passwd',
  'cat ~/x',
  'cat $FILE',
  'cat $(rm x)',
  'cat a > b',
  'A=1 cat a',
  'xargs cat',
  'cat a &&',
])('an approval of every name in it does not cover %j', (command) => {
  expect(verdict(shell(command), commands('cat', 'rm', 'xargs'))).toBe('ask');
});

test('approvals of other kinds cover their kind', () => {
  const custom: PermissionQuestion = {
    request: { kind: 'custom-tool', toolName: 't', toolDescription: '', args: {} },
  };
  const mcp: PermissionQuestion = {
    request: { kind: 'mcp', serverName: 's', toolName: 's-t', toolTitle: '', args: {}, readOnly: false },
  };
  const url: PermissionQuestion = { request: { kind: 'url', intention: '', url: 'https://a.example.com/x' } };
  const memory: PermissionQuestion = { request: { kind: 'memory', fact: 'f' } };
  expect(verdict(read, { approvals: [{ kind: 'read' }] })).toBe('allow');
  expect(verdict(read, { approvals: [{ kind: 'write' }] })).toBe('ask');
  expect(verdict(memory, { approvals: [{ kind: 'memory' }] })).toBe('allow');
  expect(verdict(custom, { approvals: [{ kind: 'custom-tool', toolName: 't' }] })).toBe('allow');
  expect(verdict(custom, { approvals: [{ kind: 'custom-tool', toolName: 'u' }] })).toBe('ask');
  expect(verdict(mcp, { approvals: [{ kind: 'mcp', serverName: 's', toolName: null }] })).toBe('allow');
  expect(verdict(mcp, { approvals: [{ kind: 'mcp', serverName: 's', toolName: 'other' }] })).toBe('ask');
  expect(verdict(url, { approvals: [{ kind: 'url', domain: 'example.com' }] })).toBe('allow');
  expect(verdict(url, { approvals: [{ kind: 'url', domain: 'ample.com' }] })).toBe('ask');
});

test('an approval to read does not lead out of the allowed directories', () => {
  const outside: PermissionQuestion = {
    request: { kind: 'read', intention: '', path: '/etc/hosts' },
    prompt: { kind: 'path', accessKind: 'read', paths: ['/etc/hosts'] },
  };
  expect(verdict(outside, { approvals: [{ kind: 'read' }] })).toBe('ask');
  expect(verdict(outside, { allow: [{ kind: 'read', argument: '/etc' }] })).toBe('allow');
});

test('a command is explained: what would happen and why', () => {
  const { type, because, reading } = explainCommand('sudo rm x', rules());
  expect({ type, because, commands: reading.commands }).toEqual({
    type: 'ask',
    because:
      'No rule and no approval covers it. It cannot be approved in advance: `sudo` runs or changes other commands.',
    commands: [
      { identifier: 'sudo', readOnly: false },
      { identifier: 'rm', readOnly: false },
    ],
  });
  expect(explainCommand('git push', rules({ deny: [{ kind: 'shell', argument: 'git push' }] })).because).toBe(
    'The rule shell(git push) denies it.',
  );
});
