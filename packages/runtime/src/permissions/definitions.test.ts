import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { judge, type PolicyRules } from './policy.js';
import { noSwitches } from './settings.js';
import { readShellCommand, shellRequest } from './shell-command.js';
import { examine } from './subject.js';

let world = '';
let work = '';
const canary = () => join(world, 'canary');
const environment = () => ({
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: join(world, 'home'),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'x',
  GIT_AUTHOR_EMAIL: 'x@example.com',
  GIT_COMMITTER_NAME: 'x',
  GIT_COMMITTER_EMAIL: 'x@example.com',
});

beforeEach(() => {
  world = realpathSync(mkdtempSync(join(tmpdir(), 'definitions-')));
  work = join(world, 'work');
  mkdirSync(join(world, 'home'));
  repository('.');
});
afterEach(() => rmSync(world, { recursive: true, force: true }));

function git(directory: string, ...words: readonly string[]): void {
  execFileSync('git', ['-C', join(work, directory), ...words], { env: environment(), stdio: 'ignore' });
}

function repository(directory: string): void {
  mkdirSync(join(work, directory), { recursive: true });
  git(directory, 'init', '-q', '-b', 'main');
  write(join(directory, 'a'), 'a\n');
  git(directory, 'add', 'a');
  git(directory, 'commit', '-qm', 'one');
}

function write(path: string, text: string): void {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), text);
}

/** A program that leaves a mark; returns where it is. */
function mark(path = 'mark'): string {
  write(path, `#!/bin/sh\ntouch ${canary()}\ncat\n`);
  chmodSync(join(work, path), 0o755);
  return join(work, path);
}

function setting(text: string, file = '.git/config'): void {
  appendFileSync(join(work, file), text);
}

const rules = (): PolicyRules => ({
  deny: [],
  allow: [],
  approvals: [],
  ...noSwitches,
  mode: 'manual',
  canAsk: true,
  directories: [work],
});

async function subjectOf(command: string) {
  const request = shellRequest({ command, intention: '' });
  return examine({ request }, { toolName: 'bash', workingDirectory: work });
}

/** The approval that a user gives for a command as things stand. */
async function approved(command: string, names?: readonly string[]): Promise<Partial<PolicyRules>> {
  const commandIdentifiers = names ?? readShellCommand(command).commands.map(({ identifier }) => identifier);
  const { definitions } = await subjectOf(command);
  return { approvals: [{ kind: 'commands', commandIdentifiers, definitions }] };
}

async function judged(command: string, more: Partial<PolicyRules>): Promise<string> {
  return judge(await subjectOf(command), { ...rules(), ...more }).type;
}

function hasRun(command: string): boolean {
  execFileSync('bash', ['-c', `(${command}) 2>&1 </dev/null; true`], {
    cwd: work,
    env: environment(),
    timeout: 20_000,
  });
  return existsSync(canary());
}

const commit = 'git commit --allow-empty -m x';

describe('an approval of what the project defines ends when that is changed', () => {
  const changes: readonly (readonly [
    string,
    { before?(): void; approve: string; change(): void; instead?: string },
  ])[] = [
    [
      'hooks in another place',
      {
        approve: commit,
        change: () => {
          mark('hooks/pre-commit');
          setting('[core]\n\thooksPath = hooks\n');
        },
      },
    ],
    [
      'a hook in a place named before',
      {
        before: () => {
          setting('[core]\n\thooksPath = hooks\n');
        },
        approve: commit,
        change: () => void mark('hooks/pre-commit'),
      },
    ],
    [
      'settings of the work tree',
      {
        before: () => setting('[extensions]\n\tworktreeConfig = true\n'),
        approve: 'git add a',
        change: () => setting(`[core]\n\tfsmonitor = ${mark()}\n`, '.git/config.worktree'),
      },
    ],
    [
      'another value of a setting that was there',
      {
        before: () => {
          setting('[filter "x"]\n\tclean = cat\n');
          write('.gitattributes', '* filter=x\n');
          write('a', 'b\n');
        },
        approve: 'git add a',
        change: () => setting(`[filter "x"]\n\tclean = ${mark()}\n`),
      },
    ],
    [
      'one more setting behind one that was there',
      {
        before: () => setting('[filter "x"]\n\tclean = cat\n'),
        approve: 'git add a',
        change: () => setting(`[core]\n\tfsmonitor = ${mark()}\n`),
      },
    ],
    [
      'the same in another repository',
      {
        approve: commit,
        change: () => {
          repository('evil');
          mark('evil/.git/hooks/pre-commit');
        },
        instead: `git -C evil commit --allow-empty -m x`,
      },
    ],
    [
      'settings of a nested repository',
      {
        before: () => {
          repository('evil');
          git('.', 'add', 'evil');
          git('.', 'commit', '-qm', 'two');
        },
        approve: 'git commit -a -m x',
        change: () => {
          setting(`[core]\n\tfsmonitor = ${mark()}\n`, 'evil/.git/config');
          write('evil/a', 'c\n');
          write('a', 'c\n');
        },
      },
    ],
    [
      'the shell of scripts',
      {
        before: () => write('package.json', '{"scripts":{"test":"true"}}'),
        approve: 'npm test',
        change: () => write('.npmrc', `script-shell=${mark()}\n`),
      },
    ],
    [
      'scripts of a workspace',
      {
        before: () => {
          write('package.json', '{"workspaces":["packages/*"]}');
          write('packages/p/package.json', '{"name":"p","version":"1.0.0","scripts":{"test":"true"}}');
        },
        approve: 'npm test -w p',
        change: () =>
          write(
            'packages/p/package.json',
            `{"name":"p","version":"1.0.0","scripts":{"test":"touch ${canary()}"}}`,
          ),
      },
    ],
    [
      'scripts of a text that was approved as a whole',
      {
        before: () => write('package.json', '{"scripts":{"test":"true"}}'),
        approve: 'npm test > log',
        change: () => write('package.json', `{"scripts":{"test":"touch ${canary()}"}}`),
      },
    ],
  ];
  test.each(changes)('%s', async (_, { before, approve, change, instead = approve }) => {
    before?.();
    const isWhole = approve.includes('>');
    const approval = await approved(approve, isWhole ? [approve] : undefined);
    expect(await judged(approve, approval)).toBe('allow');
    change();
    expect(await judged(instead, approval)).toBe('ask');
    expect(hasRun(instead)).toBe(true);
  });

  test('one name for two things in a line stands for both', async () => {
    const approval = await approved(commit);
    repository('evil');
    mark('evil/.git/hooks/pre-commit');
    expect(await judged(`${commit} && ${commit}`, approval)).toBe('allow');
    const line = `git -C evil commit --allow-empty -m x && ${commit}`;
    expect(await judged(line, approval)).toBe('ask');
    expect(hasRun(line)).toBe(true);
  });
});

test.each([
  ['make test', 'Makefile'],
  ['just build', 'justfile'],
  ['gradle build', 'gradle.properties'],
  ['mvn test', '.mvn/extensions.xml'],
  ['cargo test', '.cargo/config'],
  ['cargo build', 'rust-toolchain.toml'],
  ['yarn test', '.yarnrc.yml'],
  ['pnpm test', '.pnpmfile.cjs'],
  ['bun test', 'bunfig.toml'],
  ['terraform plan', 'evil.tf'],
  ['docker compose up', 'docker-compose.override.yml'],
  ['deno task build', 'deno.json'],
  ['turbo run build', 'turbo.json'],
  ['composer run test', 'composer.json'],
  ['bundle exec rake', 'Gemfile'],
  ['poetry run test', 'pyproject.toml'],
  ['tox', 'tox.ini'],
  ['task build', 'Taskfile.yml'],
  ['ninja', 'build.ninja'],
  ['bazel test x', '.bazelrc'],
  ['dotnet test', 'x.csproj'],
  ['pre-commit run', '.pre-commit-config.yaml'],
])('an approval of %j ends when %s comes', async (command, file) => {
  const approval = await approved(command);
  // A command without operands is approved as a whole.
  expect(await judged(command, approval)).toBe('allow');
  write(file, 'changed\n');
  expect(await judged(command, approval)).toBe('ask');
});

test('an approval stays when other things change', async () => {
  write('package.json', '{"scripts":{"test":"true"},"workspaces":["packages/*"]}');
  write('packages/p/package.json', '{"name":"p","scripts":{"test":"true"}}');
  write('compose.yml', 'services: {}\n');
  const commands = [
    commit,
    'git fetch origin',
    'npm test',
    'npm test -w p',
    'docker compose up',
    'terraform plan',
  ];
  const approvals = await Promise.all(commands.map((command) => approved(command)));
  setting('[branch "main"]\n\tremote = origin\n[remote "origin"]\n\turl = https://example.com/x\n');
  write('package.json', '{"dependencies":{"x":"1"},"scripts":{"test":"true"},"workspaces":["packages/*"]}');
  write('packages/p/index.js', '');
  write('.git/hooks/pre-push.sample', '');
  repository('other');
  for (const [index, command] of commands.entries())
    expect([command, await judged(command, approvals[index] ?? {})]).toEqual([command, 'allow']);
});
