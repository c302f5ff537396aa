import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { explain } from './explain.js';
import { judge, type PolicyRules } from './policy.js';
import type { PermissionQuestion } from './question.js';
import type { Rule } from './rules.js';
import { noSwitches } from './settings.js';
import { shellRequest } from './shell-command.js';
import { examine, type Subject, toolSubject } from './subject.js';

const workingDirectory = realpathSync(mkdtempSync(join(tmpdir(), 'policy-')));
afterAll(() => rmSync(workingDirectory, { recursive: true }));
const at = (...names: string[]) => join(workingDirectory, ...names);
mkdirSync(at('secret'));
mkdirSync(at('docs'));
writeFileSync(at('secret', 'key'), 'k');
symlinkSync(at('secret'), at('docs', 'link'));
symlinkSync('/etc', at('docs', 'etc'));
symlinkSync('/etc/passwd', at('bare'));

const rules = (more: Partial<PolicyRules> = {}): PolicyRules => ({
  deny: [],
  allow: [],
  approvals: [],
  mode: 'manual',
  ...noSwitches,
  canAsk: true,
  directories: [workingDirectory, '/extra'],
  ...more,
});

const shell = (command: string): PermissionQuestion => ({
  request: shellRequest({ command, intention: '' }),
});
const reading = (path: string): PermissionQuestion => ({ request: { kind: 'read', intention: '', path } });
const writing = (fileName: string): PermissionQuestion => ({
  request: { kind: 'write', intention: '', fileName, diff: '', canOfferSessionApproval: true },
});
const fetching = (url: string): PermissionQuestion => ({ request: { kind: 'url', intention: '', url } });
const outside = (question: PermissionQuestion, accessKind: 'read' | 'write', path: string) => ({
  ...question,
  prompt: { kind: 'path' as const, accessKind, paths: [path] },
});
const verdict = async (question: PermissionQuestion, more: Partial<PolicyRules> = {}) =>
  judge(await examine(question, { toolName: 'some_tool', workingDirectory }), rules(more)).type;
const commands = (...commandIdentifiers: string[]) => ({
  approvals: [{ kind: 'commands', commandIdentifiers }],
});
const deny = (kind: string, argument: string | null): Partial<PolicyRules> => ({
  deny: [{ kind, argument }],
});
const allow = (kind: string, argument: string | null): Partial<PolicyRules> => ({
  allow: [{ kind, argument }],
});
const allowAll: Partial<PolicyRules> = { mode: 'allow-all' };

test.each([
  ['cp x .home/permissions.json', 'ask'],
  ['cp x .home/session-state/other/plan.md', 'ask'],
  ['cp x .home/session-state/own/plan.md', 'allow'],
  ['cp x y', 'allow'],
] as const)('the home of the runtime is no part of a directory around it: %j', async (command, expected) => {
  const directories = [workingDirectory, at('.home', 'session-state', 'own')];
  expect(await verdict(shell(command), { ...commands('cp'), directories, home: at('.home') })).toBe(expected);
});

describe('wildcards', () => {
  test.each(['cat s*/k*', 'cat ./[s]ecret/key', 'cat */?ey', 'cat docs/l*/key'])(
    'in %j do not hide a path that is denied',
    async (command) => {
      expect(await verdict(shell(command), { ...deny('path', 'secret/key'), ...allowAll })).toBe('deny');
    },
  );

  test.each([`cat ~${userInfo().username}/.ssh/id`, 'cat ~/.{ssh,x}/id', 'cat {~/.ssh/id,x}'])(
    'braces and names of users in %j do not hide a path that is denied',
    async (command) => {
      const denied = deny('path', join(homedir(), '.ssh'));
      expect(await verdict(shell(command), { ...denied, ...allowAll })).toBe('deny');
    },
  );

  test.each(['cat b*', 'cat *', 'cat docs/e*/passwd', 'cat d*/etc/passwd', 'cat ?are', 'cat [[:alpha:]]*'])(
    'in %j do not hide a link that leads outside',
    async (command) => {
      expect(await verdict(shell(command), { mode: 'assisted' })).toBe('ask');
      expect(await verdict(shell(command), commands('cat'))).toBe('ask');
    },
  );

  test.each(['cat s*/key', 'cat docs/l*/key', 'ls s*', "find . -name 'k*'", 'cat nothing*'])(
    'in %j stay inside',
    async (command) => {
      expect(await verdict(shell(command), { mode: 'assisted' })).toBe('allow');
    },
  );
});

describe('the order', () => {
  test('deny comes before allow, allow before asking, and who cannot ask denies', async () => {
    const git: Rule = { kind: 'shell', argument: 'git' };
    const all = { allow: [{ kind: 'shell', argument: null }], approvesAll: true, ...allowAll };
    expect(await verdict(shell('git push'), { deny: [git], ...all })).toBe('deny');
    expect(await verdict(shell('git push'), allow('shell', 'git push'))).toBe('allow');
    expect(await verdict(shell('git push'), { approvesAll: true })).toBe('allow');
    expect(await verdict(shell('git push'), allowAll)).toBe('allow');
    expect(await verdict(shell('git push'))).toBe('ask');
    expect(await verdict(shell('git push'), { canAsk: false })).toBe('deny');
  });

  test('rules that cannot be read deny everything, whatever else is approved', async () => {
    const problem = 'permissions.json:3:1: expected a value';
    const open = { problem, approvesAll: true, ...allowAll, ...allow('shell', null) };
    expect(judge(await examine(shell('ls'), { workingDirectory }), rules(open))).toEqual({
      type: 'deny',
      because: problem,
      problem,
    });
    expect(judge(toolSubject({ toolName: 'sql', workingDirectory }), rules(open)).type).toBe('deny');
  });

  test('a tool that asks nothing runs unless a rule denies it by name', () => {
    const sql = toolSubject({ toolName: 'sql', workingDirectory });
    expect(judge(sql, rules({ canAsk: false })).type).toBe('allow');
    expect(judge(sql, rules(deny('tool', 'sql')))).toMatchObject({
      type: 'deny',
      because: 'The rule tool(sql) denies it.',
    });
    expect(judge(sql, rules(deny('tool', 'sq'))).type).toBe('allow');
  });

  test('the same subject under the same rules gets the same verdict, and neither is changed', async () => {
    const questions = [shell('git push $x'), reading(at('a')), writing('/etc/x'), fetching('https://a.b')];
    const subjects = await Promise.all(questions.map((each) => examine(each, { workingDirectory })));
    const anyRule = fc.record({
      kind: fc.constantFrom('shell', 'read', 'write', 'path', 'url', 'tool'),
      argument: fc.option(fc.constantFrom('git', 'git push', '/etc', '**', 'a.b', 'bash')),
    });
    const anyRules = fc.record({ deny: fc.array(anyRule), allow: fc.array(anyRule) });
    fc.assert(
      fc.property(anyRules, fc.constantFrom(...subjects), (some, subject: Subject) => {
        const frozen = deepFreeze(rules(some));
        expect(judge(deepFreeze(subject), frozen)).toEqual(judge(subject, frozen));
        const isDenied = judge(subject, rules({ deny: some.deny })).type === 'deny';
        expect(judge(subject, frozen).type === 'deny').toBe(isDenied);
      }),
    );
  });
});

describe('rules for commands', () => {
  test.each([
    'rm x',
    '/bin/rm x',
    './rm x',
    "'rm' x",
    "$'rm' x",
    'ls && rm x',
    'sudo -u me rm x',
    'bash -c "rm x"',
    'echo $(rm x)',
    `echo $\{x:-$(rm x)}`,
    'echo $((1 + $(rm x)))',
    'cat <(rm x)',
    'find . -exec rm {} +',
    'env -i A=b rm x',
    'eval rm x',
    'trap "rm x" EXIT',
    'coproc rm x',
    'time rm x',
    'xargs rm',
    'if true; then rm x; fi',
    'cat <<E\n$(rm x)\nE',
    'f() { rm x; }; f',
  ])('one that denies rm denies %j, in any mode', async (command) => {
    expect(await verdict(shell(command), { ...deny('shell', 'rm'), ...allowAll })).toBe('deny');
  });

  test.each([
    ['git push --force', 'git push --force origin'],
    ['git push --force', 'git push origin --force'],
    ['git push --force', 'git -C sub push --force'],
    ['git push --force', 'sudo git push --force'],
    ['git push --force', 'git push --force=yes'],
    ['git push *', 'git push origin main'],
    ['git:*', 'git status'],
    ['rm -rf', 'rm -fr x'],
    ['rm -rf', 'rm -r -f x'],
    ['rm -rf', 'env rm -vrf x'],
    ['rm -rf', 'rm --recursive --force x'],
    ['rm -rf', 'rm -Rf x'],
    ['rm --recursive', 'rm -rf x'],
    ['rm -rf', 'rm -r --interactive=never x'],
    ['rm -rf', 'rm --interactive=no -R x'],
    ['rm -f', 'rm --inter=n x'],
    ['git push --force', 'git push -uf origin'],
    ['git push --force', 'git push --forc origin'],
    ['git push --force', 'git push --force-with-lease'],
    ['git commit --no-verify', 'git commit -anm x'],
    ['npm publish', 'npm publish --tag next'],
  ])('one that denies %j denies %j', async (argument, command) => {
    expect(await verdict(shell(command), { ...deny('shell', argument), ...allowAll })).toBe('deny');
  });

  test.each([
    ['git push --force', 'git push origin'],
    ['git push', 'git commit -m push'],
    ['rm -rf', 'rm x'],
    ['rm -f', 'rm --interactive=once x'],
    ['rm -f', 'rm --interactive x'],
    ['rm', 'rmdir x'],
    ['rm', 'echo rm'],
    ['git push --force-with-lease', 'git push --force'],
    ['git push -f', 'git fetch -f'],
  ])('one that denies %j does not deny %j', async (argument, command) => {
    expect(await verdict(shell(command), deny('shell', argument))).toBe('ask');
  });

  test.each(['X=rm; $X y', '$(echo rm) y', 'eval "$text"', 'bash -c "$text"', 'rm "unclosed'])(
    'where some are denied, one that hides its name is asked about even in the mode that allows all: %j',
    async (command) => {
      const denied = deny('shell', 'shutdown');
      expect(await verdict(shell(command), { ...denied, ...allowAll })).toBe('ask');
      expect(await verdict(shell(command), { ...denied, ...allowAll, canAsk: false })).toBe('deny');
      expect(await verdict(shell(command), allowAll)).toBe('allow');
    },
  );

  test.each(['rm $FLAGS x', 'rm "$FLAG" x', 'sudo rm `flags` x', '/bin/rm $(flags)'])(
    'where some options are denied, a command that may turn out to have them is asked about in any mode: %j',
    async (command) => {
      const denied = deny('shell', 'rm -rf');
      expect(await verdict(shell(command), { ...denied, ...allowAll })).toBe('ask');
      expect(await verdict(shell('rm x && ls $FLAGS'), { ...denied, ...allowAll })).toBe('allow');
    },
  );

  test.each([
    ['git status', 'git status --short'],
    ['git status', 'git -C sub status'],
    ['git:*', 'git push origin'],
    ['git *', 'git log && git diff'],
    ['npm run *', 'npm run build'],
    ['tar -tf a.tar', 'tar -tf a.tar'],
  ])('one that allows %j allows %j', async (argument, command) => {
    expect(await verdict(shell(command), allow('shell', argument))).toBe('allow');
  });

  test.each([
    ['git status', 'git push'],
    ['git status', './git status'],
    ['git *', 'git log; rm x'],
    ['git *', 'git log $(rm x)'],
    ['git *', 'git log > out'],
    ['git *', 'git -c alias.x=!rm x'],
    ['git *', 'GIT_PAGER=rm git log'],
    ['cat *', 'cat /etc/passwd'],
    ['cat *', 'cat docs/etc/passwd'],
    ['cat *', 'cat $FILE'],
    ['xargs *', 'xargs rm'],
    ['bash *', 'bash -c "rm x"'],
  ])('one that allows %j does not allow %j', async (argument, command) => {
    expect(await verdict(shell(command), allow('shell', argument))).toBe('ask');
  });

  test('a command that is allowed may go where paths are allowed', async () => {
    const both = { allow: [...(allow('shell', 'cat *').allow ?? []), { kind: 'path', argument: '/etc' }] };
    expect(await verdict(shell('cat /etc/hosts a.txt'), both)).toBe('allow');
    expect(await verdict(shell('cat /usr/x'), both)).toBe('ask');
  });
});

describe('rules for paths', () => {
  test.each([
    [at('secret'), at('secret', 'key')],
    ['secret', at('secret', 'key')],
    ['./secret/', at('secret', 'key')],
    ['**/key', at('secret', 'key')],
    ['*.pem', '/elsewhere/a.pem'],
    ['secret/*', at('secret', 'key')],
    ['/etc', at('docs', 'etc', 'passwd')],
    ['secret', at('docs', 'link', 'key')],
    ['secret', at('docs', '..', 'secret', 'key')],
    ['secret', `${at('docs')}/link/../secret/key`],
    ['**/.{env,secrets}', at('deep', '.env')],
  ])('one that denies %j denies reading, writing and naming %j', async (argument, path) => {
    const denied = { ...deny('path', argument), ...allowAll };
    expect(await verdict(reading(path), denied)).toBe('deny');
    expect(await verdict(writing(path), denied)).toBe('deny');
    expect(await verdict(shell(`cat ${path}`), denied)).toBe('deny');
  });

  test.each([
    ['secret', at('secrets')],
    ['secret/*', at('docs', 'key')],
    ['*.pem', at('pem')],
    ['sub/*.ts', '/elsewhere/sub/a.ts'],
  ])('one that denies %j does not deny %j', async (argument, path) => {
    expect(await verdict(reading(path), deny('path', argument))).toBe('ask');
  });

  test('one that denies a directory denies what a command reads after it has gone there', async () => {
    const denied = { ...deny('path', 'secret'), ...allowAll };
    expect(await verdict(shell('cd secret && cat key'), denied)).toBe('deny');
    expect(await verdict(shell('cd docs && cat link/key.txt'), denied)).toBe('deny');
    expect(await verdict(shell('rm -r secret'), denied)).toBe('deny');
    expect(await verdict(shell('cd docs && cat a.txt'), denied)).toBe('allow');
  });

  test('home and the working directory are known by their variables too', async () => {
    const denied = { ...deny('path', join(homedir(), '.ssh')), ...allowAll };
    for (const path of ['~/.ssh/id', '$HOME/.ssh/id', `"$\{HOME}/.ssh/id"`])
      expect(await verdict(shell(`cat ${path}`), denied)).toBe('deny');
    expect(await verdict(shell('cat $PWD/secret/key'), { ...deny('path', 'secret'), ...allowAll })).toBe(
      'deny',
    );
  });

  test('what may not be read may not be edited; what may not be written may be read', async () => {
    expect(await verdict(writing(at('a')), deny('read', 'a'))).toBe('deny');
    expect(await verdict(reading(at('a')), deny('write', 'a'))).toBe('ask');
    expect(await verdict(writing(at('a')), deny('write', 'a'))).toBe('deny');
    expect(await verdict(shell('cat a.txt'), deny('write', 'a.txt'))).toBe('ask');
    expect(await verdict(shell('tee a.txt'), deny('write', 'a.txt'))).toBe('deny');
    expect(await verdict(outside(reading('/opt/x'), 'write', '/opt/x'), deny('write', '/opt'))).toBe('deny');
    expect(await verdict(shell('echo x > y'), deny('write', null))).toBe('deny');
  });

  test('one that allows a place does not follow links out of it', async () => {
    const docs = allow('path', 'docs');
    expect(await verdict(reading(at('docs', 'a')), docs)).toBe('allow');
    expect(await verdict(reading(at('docs', 'link', 'key')), docs)).toBe('ask');
    expect(await verdict(outside(reading(at('docs/etc/passwd')), 'read', '/etc/passwd'), docs)).toBe('ask');
    expect(await verdict(outside(reading('/etc/hosts'), 'read', '/etc/hosts'), allow('path', '/etc'))).toBe(
      'allow',
    );
  });

  test('where a path led when the call was prepared counts as much as where it leads now', async () => {
    const moved = { ...reading(at('docs', 'a')), real: [at('secret', 'key')] };
    expect(await verdict(moved, { ...deny('path', 'secret'), ...allowAll })).toBe('deny');
    expect(await verdict(moved, allow('path', 'docs'))).toBe('ask');
  });
});

describe('rules for addresses', () => {
  test.each([
    ['example.com', 'https://example.com/x'],
    ['example.com', 'https://API.example.com.'],
    ['*.example.com', 'https://a.b.example.com'],
    ['example.com:8443', 'https://example.com:8443/x'],
    ['example.com:443', 'https://example.com/x'],
    ['https://example.com/private', 'https://example.com/private/x'],
    ['https://example.com/private/*', 'https://example.com/%70rivate'],
    ['example.com', 'https://user@example.com/'],
    ['bücher.example', 'https://xn--bcher-kva.example/'],
    ['*', 'https://anything.example/'],
  ])('one that denies %j denies %j, and a command that names it', async (argument, url) => {
    const denied = { ...deny('url', argument), ...allowAll };
    expect(await verdict(fetching(url), denied)).toBe('deny');
    expect(await verdict(shell(`curl ${url}`), denied)).toBe('deny');
  });

  test.each([
    ['example.com', 'https://notexample.com'],
    ['example.com', 'https://example.com.evil.net'],
    ['example.com:8443', 'https://example.com'],
    ['https://example.com', 'http://example.com'],
    ['https://example.com', 'https://a.example.com'],
    ['https://example.com/private', 'https://example.com/privates'],
  ])('one for %j is not one for %j', async (argument, url) => {
    expect(await verdict(fetching(url), deny('url', argument))).toBe('ask');
    expect(await verdict(fetching(url), allow('url', argument))).toBe('ask');
  });
});

describe('approvals', () => {
  test('an approval of commands covers those commands, wherever they stand', async () => {
    expect(await verdict(shell('git status'), commands('git status'))).toBe('allow');
    expect(await verdict(shell('git status && git diff'), commands('git status', 'git diff'))).toBe('allow');
    expect(await verdict(shell('git status && git push'), commands('git status'))).toBe('ask');
    expect(await verdict(shell('./git status'), commands('git status'))).toBe('ask');
    expect(await verdict(shell('cat a.txt sub/b.txt /extra/c.txt'), commands('cat'))).toBe('allow');
    expect(await verdict(shell('cd docs && cat a.txt ./b'), commands('cd', 'cat'))).toBe('allow');
  });

  test.each([
    'cat ../outside',
    'cat /etc/passwd',
    'cat docs/etc/passwd',
    'cat docs/etc/../passwd',
    'cd docs && cat etc/passwd',
    'cat bare',
    'cat x bare',
    'cat if=bare',
    'cd docs; cd etc; cat passwd.txt',
    'cd && cat a.txt',
    'cat ~/x',
    'cat $FILE',
    'cat $(rm x)',
    'cat a > b',
    'A=1 cat a',
    'xargs cat',
    'cat a &&',
  ])('an approval of every name in it does not cover %j', async (command) => {
    expect(await verdict(shell(command), commands('cat', 'cd', 'rm', 'xargs'))).toBe('ask');
  });

  test('approvals of other kinds cover their kind', async () => {
    const custom: PermissionQuestion = {
      request: { kind: 'custom-tool', toolName: 't', toolDescription: '', args: {} },
    };
    const mcp: PermissionQuestion = {
      request: { kind: 'mcp', serverName: 's', toolName: 's-t', toolTitle: '', args: {}, readOnly: false },
    };
    const url = fetching('https://a.example.com/x');
    const memory: PermissionQuestion = { request: { kind: 'memory', fact: 'f' } };
    const approved = (approval: Record<string, unknown>) => ({ approvals: [approval] });
    expect(await verdict(reading(at('a')), approved({ kind: 'read' }))).toBe('allow');
    expect(await verdict(reading(at('a')), approved({ kind: 'write' }))).toBe('ask');
    expect(await verdict(memory, approved({ kind: 'memory' }))).toBe('allow');
    expect(await verdict(custom, approved({ kind: 'custom-tool', toolName: 't' }))).toBe('allow');
    expect(await verdict(custom, approved({ kind: 'custom-tool', toolName: 'u' }))).toBe('ask');
    expect(await verdict(mcp, approved({ kind: 'mcp', serverName: 's', toolName: null }))).toBe('allow');
    expect(await verdict(mcp, approved({ kind: 'mcp', serverName: 's', toolName: 'other' }))).toBe('ask');
    expect(await verdict(mcp, allow('s', 's-t'))).toBe('allow');
    expect(await verdict(mcp, deny('mcp', 's/s-t'))).toBe('deny');
    expect(await verdict(url, approved({ kind: 'url', domain: 'example.com' }))).toBe('allow');
    expect(await verdict(url, approved({ kind: 'url', domain: 'ample.com' }))).toBe('ask');
  });

  test('neither an approval nor a rule to read leads out of the allowed directories; a switch or a place does', async () => {
    const away = outside(reading('/etc/hosts'), 'read', '/etc/hosts');
    expect(await verdict(away, { approvals: [{ kind: 'read' }], approvesReads: true })).toBe('ask');
    expect(await verdict(away, allow('read', null))).toBe('ask');
    expect(await verdict(away, allow('read', '/etc'))).toBe('allow');
    expect(await verdict(away, { allowsAnyPath: true })).toBe('allow');
  });
});

describe('what only the place can decide', () => {
  test.each([
    ['another repository', 'git -C nested status'],
    ['another repository', 'cd nested && git log'],
    ['a directory that is a bare one', 'git -C naked status'],
  ])('git in %s is neither read-only nor covered nor allowed by its name: %j', async (_, command) => {
    mkdirSync(at('nested', '.git'), { recursive: true });
    for (const name of ['objects', 'refs', 'HEAD']) mkdirSync(at('naked', name), { recursive: true });
    expect(await verdict(shell(command), { mode: 'assisted' })).toBe('ask');
    expect(await verdict(shell(command), commands('cd', 'git status', 'git log'))).toBe('ask');
    expect(await verdict(shell(command), allow('shell', 'git *'))).toBe('ask');
    expect(await verdict(shell('git status'), { mode: 'assisted' })).toBe('allow');
  });

  test('a file that is named like an option is not reached by a wildcard', async () => {
    mkdirSync(at('options'));
    writeFileSync(at('options', '--checkpoint-action=exec=sh x'), '');
    const inside = (command: string, more: Partial<PolicyRules>) =>
      examine(shell(command), { workingDirectory: at('options') }).then(
        (subject) => judge(subject, rules(more)).type,
      );
    expect(await inside('tar -cf x.tar *', commands('tar'))).toBe('ask');
    expect(await inside('tar -cf x.tar ./*', commands('tar'))).toBe('allow');
    expect(await inside('wc -l *', { mode: 'assisted' })).toBe('ask');
  });

  test('a directory may have links in it that diff would follow', async () => {
    expect(await verdict(shell('diff docs secret'), { mode: 'assisted' })).toBe('ask');
    expect(await verdict(shell('diff a.txt b.txt'), { mode: 'assisted' })).toBe('allow');
  });

  test('longer journeys are not followed', async () => {
    const journey = (moves: number) => `${'cd .; '.repeat(moves)}cat a.txt`;
    expect(await verdict(shell(journey(4)), { mode: 'assisted' })).toBe('allow');
    expect(await verdict(shell(journey(6)), { mode: 'assisted' })).toBe('ask');
    expect(await verdict(shell(journey(6)), { ...deny('path', 'secret'), ...allowAll })).toBe('ask');
  });
});

describe('the assisted mode', () => {
  test.each(['ls -la', 'cat a.txt | wc -l', 'git status', 'grep -rn x .'])('lets %j run', async (command) => {
    expect(await verdict(shell(command), { mode: 'assisted' })).toBe('allow');
  });

  test.each(['rm x', 'cat /etc/passwd', 'cat docs/etc/passwd', 'ls $(rm x)', 'ls > x', 'npm test', '$x'])(
    'asks about %j',
    async (command) => {
      expect(await verdict(shell(command), { mode: 'assisted' })).toBe('ask');
    },
  );

  test('lets files inside be read, and asks about all else', async () => {
    const assisted = { mode: 'assisted' as const };
    expect(await verdict(reading(at('a')), assisted)).toBe('allow');
    expect(await verdict(outside(reading('/etc/hosts'), 'read', '/etc/hosts'), assisted)).toBe('ask');
    expect(await verdict(writing(at('a')), assisted)).toBe('ask');
    expect(await verdict(fetching('https://example.com'), assisted)).toBe('ask');
  });
});

describe('explanations', () => {
  test('a command is explained: what would happen and why', async () => {
    const { reading: read, ...rest } = await explain(
      { type: 'command', command: 'sudo rm x' },
      { workingDirectory },
      rules(),
    );
    expect({ ...rest, commands: read?.commands }).toEqual({
      type: 'ask',
      because:
        'No rule and no approval covers it. It cannot be approved in advance: `sudo` runs or changes other commands.',
      commands: [
        { identifier: 'sudo', readOnly: false },
        { identifier: 'rm', readOnly: false },
      ],
    });
  });

  test('so is a path, an address and the use of a tool, with the rule and where it stands', async () => {
    const said = (rule: Rule) => ({ deny: [{ ...rule, origin: 'permissions.json, line 3' }] });
    const why = async (wish: Parameters<typeof explain>[0], more: Partial<PolicyRules>) =>
      (await explain(wish, { workingDirectory, freeTools: new Set(['sql']) }, rules(more))).because;
    expect(await why({ type: 'read', path: 'secret/key' }, said({ kind: 'path', argument: 'secret' }))).toBe(
      'The rule path(secret) (permissions.json, line 3) denies it.',
    );
    expect(await why({ type: 'write', path: '/etc/x' }, {})).toBe('No rule and no approval covers it.');
    expect(await why({ type: 'url', url: 'https://a.b' }, allow('url', 'a.b'))).toBe(
      'The rule url(a.b) allows it.',
    );
    expect(await why({ type: 'tool', toolName: 'sql' }, {})).toBe('It needs no permission.');
    expect(await why({ type: 'command', command: 'ls' }, deny('tool', 'bash'))).toBe(
      'The rule tool(bash) denies it.',
    );
  });
});

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  for (const each of Object.values(value)) deepFreeze(each);
  return value;
}
