import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, type ScriptedReply, say, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { asked } from './asked.js';

const runtime = liveRuntime();
let calls = 0;
const bash = (command: string) =>
  callTools({ id: `c${calls++}`, name: 'bash', arguments: { command, description: 'Look' } });
const deny = { kind: 'reject', feedback: 'No.' };

/** A directory of its own for each test. */
function place(name: string): string {
  const directory = join(runtime.workingDirectory, name);
  mkdirSync(directory);
  return directory;
}

function git(cwd: string, ...words: string[]): void {
  const identity = ['-c', 'user.name=x', '-c', 'user.email=x@example.com'];
  execFileSync('git', [...identity, ...words], { cwd, stdio: 'ignore' });
}

function script(path: string, canary: string): string {
  writeFileSync(path, `#!/bin/sh\ntouch ${canary}\n`);
  chmodSync(path, 0o755);
  return path;
}

/** A session that runs unasked what certainly only reads. */
async function assisted(workingDirectory: string, replies: readonly ScriptedReply[]): Promise<WireSession> {
  const { session } = await runtime.session([...replies], { workingDirectory });
  await session.call('session.permissions.setMode', { mode: 'assisted' });
  return session;
}

test('in the session’s own repository git runs unasked, and nothing of the repository runs with it', async () => {
  const work = place('own');
  const canary = join(work, 'canary');
  git(work, 'init', '-q');
  writeFileSync(join(work, 'a'), 'a\n');
  git(work, 'add', 'a');
  git(work, 'commit', '-qm', 'x');
  mkdirSync(join(work, '.git/hooks'), { recursive: true });
  script(join(work, '.git/hooks/post-index-change'), canary);
  writeFileSync(join(work, 'a'), 'a\n');
  const session = await assisted(work, [bash('git status && git diff && git log -1'), say('1')]);
  expect(await asked(session, 'Look', deny)).toBe(0);
  const done = session.events.find(({ type }) => type === 'tool.execution_complete');
  expect(done?.data).toMatchObject({ success: true });
  expect(existsSync(canary)).toBe(false);
  git(work, 'status');
  expect(existsSync(canary)).toBe(true);
});

test('a directory that is a repository of its own is not looked at unasked', async () => {
  const work = place('nested');
  const canary = join(work, 'canary');
  const docs = join(work, 'docs');
  git(work, 'init', '-q');
  mkdirSync(docs);
  git(docs, 'init', '-q', '--bare');
  git(docs, 'config', 'core.fsmonitor', script(join(work, 'run'), canary));
  const commands = [
    'git -C docs status',
    'cd docs && git status',
    'cd docs; git log',
    'git --git-dir=docs status',
  ];
  const session = await assisted(work, [...commands.flatMap((command) => [bash(command), say('x')])]);
  for (const _ of commands) expect(await asked(session, 'Look', deny)).toBe(1);
  expect(existsSync(canary)).toBe(false);
});

test.each([
  ['core.fsmonitor', '[core]\n\tfsmonitor = ./run\n', 'git status'],
  ['a driver that shows differences', '[diff "x"]\n\ttextconv = ./run\n', 'git diff'],
  ['a filter', '[filter "x"]\n\tclean = ./run\n', 'git status'],
  ['another diff', '[diff]\n\texternal = ./run\n', 'git diff'],
  ['a pager', '[core] pager = ./run\n', 'git log'],
  ['more settings elsewhere', '[include]\n\tpath = ../more\n', 'git status'],
  ['another work tree', '[core]\n\tworktree = /etc\n', 'git status'],
])(
  'once the session has written %s into the settings of its repository, git is asked about',
  async (name, text, command) => {
    const work = place(`written-${name.replaceAll(' ', '-')}`);
    const canary = join(work, 'canary');
    git(work, 'init', '-q');
    script(join(work, 'run'), canary);
    const settings = join(work, '.git/config');
    const before = readFileSync(settings, 'utf8');
    const edit = callTools({
      id: 'edit',
      name: 'edit',
      arguments: { path: settings, old_str: before, new_str: before + text },
    });
    const session = await assisted(work, [bash(command), say('1'), edit, say('2'), bash(command), say('3')]);
    expect(await asked(session, 'Look', deny)).toBe(0);
    expect(await asked(session, 'Write')).toBe(1);
    expect(readFileSync(settings, 'utf8')).toBe(before + text);
    expect(await asked(session, 'Look', deny)).toBe(1);
    expect(existsSync(canary)).toBe(false);
  },
);

test('what a nested repository would run when git looks whether it is clean is asked about', async () => {
  const work = place('module');
  const canary = join(work, 'canary');
  const nested = join(work, 'nested');
  mkdirSync(nested);
  for (const directory of [work, nested]) {
    git(directory, 'init', '-q');
    git(directory, 'commit', '-q', '--allow-empty', '-m', 'x');
  }
  git(nested, 'config', 'filter.x.clean', script(join(work, 'run'), canary));
  writeFileSync(join(nested, '.gitattributes'), '* filter=x\n');
  writeFileSync(join(nested, 'a'), 'a\n');
  git(nested, 'add', 'a');
  writeFileSync(join(nested, 'a'), 'b\n');
  git(work, 'add', 'nested');
  writeFileSync(join(work, '.gitmodules'), '[submodule "nested"]\n\tpath = nested\n\tignore = none\n');
  rmSync(canary, { force: true });
  const commands = ['git status', 'git diff --ignore-submodules=none'];
  const session = await assisted(
    work,
    commands.flatMap((command) => [bash(command), say('x')]),
  );
  for (const _ of commands) expect(await asked(session, 'Look', deny)).toBe(1);
  expect(existsSync(canary)).toBe(false);
});

test('approvals of its parts do not cover a line that writes the settings it then goes by', async () => {
  const work = place('self-made');
  const canary = join(work, 'canary');
  git(work, 'init', '-q');
  const settings = readFileSync(join(work, '.git/config'), 'utf8');
  writeFileSync(join(work, 'c'), `${settings}[core]\n\tfsmonitor = ${script(join(work, 'run'), canary)}\n`);
  const commands = ['cp c d', 'git status', 'cp c .git/config && git status'];
  const { session } = await runtime.session(
    commands.flatMap((command) => [bash(command), say('x')]),
    { workingDirectory: work },
  );
  for (const name of ['cp', 'git status']) {
    const approval = { kind: 'commands', commandIdentifiers: [name] };
    expect(await asked(session, 'Run', { kind: 'approve-for-session', approval })).toBe(1);
  }
  expect(await asked(session, 'Run', deny)).toBe(1);
  expect(existsSync(canary)).toBe(false);
});

test('an approval covers the like of what was approved, and no option that does more', async () => {
  const work = place('covered');
  const canary = join(work, 'canary');
  writeFileSync(join(work, 'f'), 'f');
  const hostile = [
    `tar -I'touch ${canary}; cat' -cf y.tar f`,
    `tar --use-compress-prog='touch ${canary}' -cf y.tar f`,
    'tar -cf host:x f',
  ];
  const session = (
    await runtime.session(
      ['tar -cf x.tar f', 'tar -czf z.tgz f', ...hostile].flatMap((command) => [bash(command), say('x')]),
      { workingDirectory: work },
    )
  ).session;
  const approval = { kind: 'commands', commandIdentifiers: ['tar'] };
  expect(await asked(session, 'Pack', { kind: 'approve-for-session', approval })).toBe(1);
  expect(await asked(session, 'Pack', deny)).toBe(0);
  expect(existsSync(join(work, 'z.tgz'))).toBe(true);
  for (const _ of hostile) expect(await asked(session, 'Pack', deny)).toBe(1);
  expect(existsSync(canary)).toBe(false);
});

test('a program without a description is approved by its text alone, or for any use in plain words', async () => {
  const work = place('unknown');
  const program = join(work, 'frob');
  writeFileSync(program, '#!/bin/sh\necho "$@"\n');
  chmodSync(program, 0o755);
  const commands = [
    './frob -a',
    './frob -a',
    './frob -b',
    './frob -c',
    './frob $(ls)',
    './frob > x',
    './frob {a,b}',
  ];
  const { session } = await runtime.session(
    commands.flatMap((command) => [bash(command), say('x')]),
    { workingDirectory: work },
  );
  const alone = { kind: 'commands', commandIdentifiers: ['./frob -a'] };
  expect(await asked(session, 'Run', { kind: 'approve-for-session', approval: alone })).toBe(1);
  const question = session.events.find(({ type }) => type === 'permission.requested')?.data;
  const warning =
    'The options of `./frob` are not known. Approve this text alone, or any use of `./frob` with plain words.';
  expect(question).toMatchObject({
    permissionRequest: { canOfferSessionApproval: true, warning, commands: [{ identifier: './frob' }] },
    promptRequest: { commandIdentifiers: ['./frob'], warning },
  });
  expect(await asked(session, 'Run', deny)).toBe(0);
  const any = { kind: 'commands', commandIdentifiers: ['./frob'] };
  expect(await asked(session, 'Run', { kind: 'approve-for-session', approval: any })).toBe(1);
  expect(await asked(session, 'Run', deny)).toBe(0);
  for (const _ of commands.slice(4)) expect(await asked(session, 'Run', deny)).toBe(1);
});

test('a command too long to be read is asked about as a whole, and others do not wait for it', async () => {
  const work = place('long');
  const text = `echo ${'{,'.repeat(16_000)}`;
  const { session } = await runtime.session([bash(text), say('x')], { workingDirectory: work });
  await session.call('session.permissions.setMode', { mode: 'assisted' });
  expect(await asked(session, 'Run', deny)).toBe(1);
  const question = session.events.find(({ type }) => type === 'permission.requested')?.data;
  expect(question).toMatchObject({
    permissionRequest: { canOfferSessionApproval: false, commands: [{ identifier: text, readOnly: false }] },
  });
});

test('an approval of what runs a script or a target ends when that is another one', async () => {
  const work = place('defined');
  const at = (name: string) => join(work, name);
  const pack = (scripts: object, more: object = {}) =>
    writeFileSync(at('package.json'), JSON.stringify({ name: 'x', scripts, ...more }));
  writeFileSync(at('Makefile'), 'test:\n\ttrue\n');
  pack({ test: 'true' });
  git(work, 'init', '-q');
  const edit = callTools({
    id: 'edit-makefile',
    name: 'edit',
    arguments: { path: at('Makefile'), old_str: '\ttrue', new_str: '\ttouch canary' },
  });
  const runs = ['make test', 'npm test', 'git commit --allow-empty -m x'];
  const rounds = [...runs, ...runs].flatMap((command) => [bash(command), say('x')]);
  const after = [edit, say('x'), ...runs.flatMap((command) => [bash(command), say('x')])];
  const last = runs.flatMap((command) => [bash(command), say('x')]);
  const { session } = await runtime.session([...rounds, ...after, ...last], { workingDirectory: work });
  for (const name of ['make test', 'npm test', 'git commit']) {
    const approval = { kind: 'commands', commandIdentifiers: [name] };
    expect(await asked(session, 'Run', { kind: 'approve-for-session', approval })).toBe(1);
  }
  for (const _ of runs) expect(await asked(session, 'Run', deny)).toBe(0);
  expect(await asked(session, 'Edit')).toBe(1);
  pack({ test: 'true' }, { dependencies: { a: '1' } });
  expect(await asked(session, 'Run', deny)).toBe(1);
  expect(await asked(session, 'Run', deny)).toBe(0);
  expect(await asked(session, 'Run', deny)).toBe(0);
  writeFileSync(at('Makefile'), 'test:\n\ttrue\n');
  pack({ test: 'true', pretest: 'touch canary' });
  mkdirSync(at('.git/hooks'), { recursive: true });
  script(at('.git/hooks/pre-commit'), at('canary'));
  expect(await asked(session, 'Run', deny)).toBe(0);
  expect(await asked(session, 'Run', deny)).toBe(1);
  expect(await asked(session, 'Run', deny)).toBe(1);
  expect(existsSync(at('canary'))).toBe(false);
});
