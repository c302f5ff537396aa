import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { asked } from './asked.js';

const runtime = liveRuntime();
let calls = 0;
const bash = (command: string) =>
  callTools({ id: `c${calls++}`, name: 'bash', arguments: { command, description: 'Look' } });
const deny = { kind: 'reject', feedback: 'No.' };
const forSession = (...commandIdentifiers: string[]) => ({
  kind: 'approve-for-session',
  approval: { kind: 'commands', commandIdentifiers },
});

/** A session in a directory of its own, whose model runs these commands, one a turn. */
async function running(name: string, commands: readonly string[]) {
  const work = join(runtime.workingDirectory, name);
  mkdirSync(work);
  const { session } = await runtime.session(
    commands.flatMap((command) => [bash(command), say('x')]),
    { workingDirectory: work },
  );
  return { work, session, at: (...names: string[]) => join(work, ...names) };
}

function script(path: string, canary: string): void {
  writeFileSync(path, `#!/bin/sh\n: > ${canary}\n`);
  chmodSync(path, 0o755);
}

test('a format that assigns a variable, and a program that opens a file before it says its version, do not only read', async () => {
  const commands = ["printf 'x%n' PATH; ls", "sed -e 'w kept' --version"];
  const { session, at, work } = await running('assigns', commands);
  mkdirSync(at('1'));
  script(at('1', 'ls'), at('canary'));
  writeFileSync(at('kept'), 'kept');
  await session.call('session.permissions.setMode', { mode: 'assisted' });
  for (const _ of commands) expect(await asked(session, 'Look', deny)).toBe(1);
  expect(existsSync(at('canary'))).toBe(false);
  expect(readFileSync(at('kept'), 'utf8')).toBe('kept');
  // They would have done it.
  for (const command of commands) execFileSync('bash', ['-c', command], { cwd: work, stdio: 'ignore' });
  expect(existsSync(at('canary'))).toBe(true);
  expect(readFileSync(at('kept'), 'utf8')).toBe('');
});

test('an approval does not cover a command whose files would be written through a link of the place', async () => {
  const hostile = ['cp a/x d', 'cp -t d a/x', 'cp -r a/. d', 'split -b 1 a/x d/p'];
  const { session, at, work } = await running('through', ['cp a/x e', 'split -b 1 a/x e/p', ...hostile]);
  const outside = join(runtime.workingDirectory, 'outside');
  writeFileSync(outside, 'kept');
  for (const name of ['a', 'd', 'e']) mkdirSync(at(name));
  writeFileSync(at('a', 'x'), 'new');
  for (const name of ['x', 'paa']) symlinkSync(outside, at('d', name));
  expect(await asked(session, 'Copy', forSession('cp', 'split'))).toBe(1);
  expect(await asked(session, 'Split', deny)).toBe(0);
  for (const _ of hostile) expect(await asked(session, 'Copy', deny)).toBeGreaterThanOrEqual(1);
  expect(readFileSync(outside, 'utf8')).toBe('kept');
  for (const command of hostile) {
    writeFileSync(outside, 'kept');
    execFileSync('bash', ['-c', command], { cwd: work, stdio: 'ignore' });
    expect(readFileSync(outside, 'utf8')).not.toBe('kept');
  }
});

test('an approval ends when a file that the targets include, or a hook that a look for changes runs, is another one', async () => {
  const runs = ['make test', 'git status'];
  const { session, at, work } = await running('included', [...runs, ...runs, ...runs]);
  writeFileSync(at('Makefile'), 'include rules/*.mk\n');
  mkdirSync(at('rules'));
  writeFileSync(at('rules', 'a.mk'), 'include rules/inner/b\n');
  mkdirSync(at('rules', 'inner'));
  writeFileSync(at('rules', 'inner', 'b'), 'test:\n\ttrue\n');
  execFileSync('git', ['init', '-q'], { cwd: work });
  expect(await asked(session, 'Run', forSession('make test'))).toBe(1);
  expect(await asked(session, 'Run', forSession('git status'))).toBe(1);
  for (const _ of runs) expect(await asked(session, 'Run', deny)).toBe(0);
  writeFileSync(at('rules', 'inner', 'b'), 'test:\n\ttouch canary\n');
  mkdirSync(at('.git', 'hooks'), { recursive: true });
  script(at('.git', 'hooks', 'post-index-change'), at('canary'));
  for (const _ of runs) expect(await asked(session, 'Run', deny)).toBe(1);
  expect(existsSync(at('canary'))).toBe(false);
});

test('an approval of a name does not reach from looking to changing', async () => {
  const { session } = await running('names', ['npm audit', 'npm audit fix', 'terraform state rm x']);
  expect(await asked(session, 'Look', deny)).toBe(1);
  await session.call('session.permissions.modifyRules', {
    scope: 'session',
    add: [
      { kind: 'shell', argument: 'npm audit' },
      { kind: 'shell', argument: 'terraform state list' },
    ],
  });
  expect(await asked(session, 'Change', deny)).toBe(1);
  expect(await asked(session, 'Change', deny)).toBe(1);
});
