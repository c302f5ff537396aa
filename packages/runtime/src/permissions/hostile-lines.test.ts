import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { judge, type PolicyRules } from './policy.js';
import { noSwitches } from './settings.js';
import { readShellCommand, shellRequest } from './shell-command.js';
import { examine } from './subject.js';

// A repository with all that a line could use against it, copied anew for each line that is run in real bash.
const world = realpathSync(mkdtempSync(join(tmpdir(), 'hostile-lines-')));
const pristine = join(world, 'pristine');
const work = join(world, 'work');
const canary = join(world, 'canary');
const environment = {
  PATH: `${join(world, 'bin')}:/usr/local/bin:/usr/bin:/bin`,
  HOME: join(world, 'home'),
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'x',
  GIT_AUTHOR_EMAIL: 'x@example.com',
  GIT_COMMITTER_NAME: 'x',
  GIT_COMMITTER_EMAIL: 'x@example.com',
};

function git(cwd: string, ...words: string[]): void {
  execFileSync('git', words, { cwd, env: environment, stdio: 'ignore' });
}

/** A script that leaves a mark. */
function script(path: string): void {
  writeFileSync(path, `#!/bin/sh\ntouch ${canary}\ncat\n`);
  chmodSync(path, 0o755);
}

/** A file as it is in the index, of another time: git writes the index when it has looked. */
function touched(path: string): void {
  const time = new Date('2020-01-01');
  utimesSync(path, time, time);
}

function repository(directory: string): void {
  mkdirSync(directory, { recursive: true });
  // Without the samples of the template: they are copied for every line.
  git(directory, 'init', '-q', '-b', 'main', '--template=');
  mkdirSync(join(directory, '.git/hooks'));
  writeFileSync(join(directory, 'a'), 'a\n');
  git(directory, 'add', 'a');
  git(directory, 'commit', '-qm', 'one');
}

/** A repository whose own settings run a program when git looks whether it is clean. */
function hostileRepository(directory: string): void {
  repository(directory);
  git(directory, 'config', 'filter.x.clean', join(world, 'bin/mark'));
  writeFileSync(join(directory, '.gitattributes'), '* filter=x\n');
  writeFileSync(join(directory, 'a'), 'b\n');
}

beforeAll(() => {
  for (const name of ['bin', 'home']) mkdirSync(join(world, name), { recursive: true });
  script(join(world, 'bin/mark'));
  repository(pristine);
  const at = (name: string) => join(pristine, name);
  hostileRepository(at('evil'));
  repository(at('stuff'));
  mkdirSync(at('stuff/.git/hooks'), { recursive: true });
  writeFileSync(
    at('config'),
    `${readFileSync(at('.git/config'), 'utf8')}[core]\n\tfsmonitor = ${join(world, 'bin/mark')}\n`,
  );
  cpSync(at('config'), at('stuff/.git/config'));
  script(at('hook'));
  script(at('stuff/.git/hooks/pre-commit'));
  execFileSync('tar', ['-cf', at('stuff.tar'), '-C', at('stuff'), '.git']);
  mkdirSync(at('links'));
  writeFileSync(join(world, 'secret'), 'do not tell\n');
  symlinkSync(join(world, 'secret'), at('links/note'));
  execFileSync('tar', ['-cf', at('links.tar'), '-C', at('links'), 'note']);
  rmSync(at('links'), { recursive: true });
  writeFileSync(at('other.mk'), `test:\n\ttouch ${canary}\n`);
  git(world, 'init', '-q', '--bare', '--template=', at('target'));
  mkdirSync(at('target/hooks'), { recursive: true });
  script(at('target/hooks/pre-receive'));
});
afterAll(() => rmSync(world, { recursive: true, force: true }));

function fresh(prepare?: (directory: string) => void): void {
  rmSync(work, { recursive: true, force: true });
  rmSync(canary, { force: true });
  cpSync(pristine, work, { recursive: true, verbatimSymlinks: true });
  prepare?.(work);
}

/** What a line shows, and whether something ran that it does not name. */
function run(line: string): { readonly output: string; readonly hasRun: boolean } {
  const { stdout } = spawned(line);
  return { output: stdout, hasRun: existsSync(canary) };
}

function spawned(line: string): { readonly stdout: string } {
  const words = ['-c', `(${line}\n) 2>&1; true`];
  return {
    stdout: execFileSync('bash', words, { cwd: work, env: environment, encoding: 'utf8', timeout: 20_000 }),
  };
}

const rules: PolicyRules = {
  deny: [],
  allow: [],
  approvals: [],
  ...noSwitches,
  mode: 'manual',
  canAsk: true,
  directories: [work],
};

async function judged(command: string, more: Partial<PolicyRules>): Promise<string> {
  const request = shellRequest({ command, intention: '' });
  const subject = await examine({ request }, { toolName: 'bash', workingDirectory: work });
  return judge(subject, { ...rules, ...more }).type;
}

/** Every name of the line was approved before. */
function approvalOf(command: string): Partial<PolicyRules> {
  const commandIdentifiers = readShellCommand(command).commands.map(({ identifier }) => identifier);
  return { approvals: [{ kind: 'commands', commandIdentifiers }] };
}

const allowAll: Partial<PolicyRules> = { mode: 'allow-all', deny: [{ kind: 'shell', argument: 'shutdown' }] };

describe('what a repository in the repository runs', () => {
  const nested = (ignore: string) => (directory: string) => {
    git(directory, 'add', 'evil');
    writeFileSync(
      join(directory, '.gitmodules'),
      `[submodule "evil"]\n\tpath = evil\n\turl = ./evil\n${ignore}`,
    );
  };
  test.each([
    ['git status', '\tignore = none\n'],
    ['git status --ignore-submodules=none', ''],
    ['git diff', '\tignore = none\n'],
    ['git diff --ignore-submodules=none', ''],
    ['git diff-files --ignore-submodules=none', ''],
    ['git diff-index --ignore-submodules=none HEAD', ''],
  ])('%j runs it, so it is asked about in every mode', async (line, ignore) => {
    fresh(nested(ignore));
    expect(await judged(line, { mode: 'assisted' })).toBe('ask');
    expect(await judged(line, approvalOf(line))).toBe('ask');
    expect(await judged(line, allowAll)).toBe('ask');
    expect(run(line).hasRun).toBe(true);
  });

  test('one with plain settings is looked into unasked, and so is one that is not checked out', async () => {
    fresh((directory) => {
      repository(join(directory, 'plain'));
      git(directory, '-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', './plain', 'module');
      git(directory, 'add', 'plain', 'evil');
      rmSync(join(directory, 'evil'), { recursive: true });
      mkdirSync(join(directory, 'evil'));
    });
    expect(await judged('git status', { mode: 'assisted' })).toBe('allow');
    expect(await judged('git status', allowAll)).toBe('allow');
    expect(run('git status')).toMatchObject({ hasRun: false, output: expect.stringContaining('module') });
  });

  test.each(['git status --ignore-submodules=none', 'git diff --ignore-submodules=none'])(
    '%j runs the hook of one for changes of its index',
    async (line) => {
      const hook = 'module/.git/hooks/post-index-change';
      fresh((directory) => {
        repository(join(directory, 'module'));
        git(directory, 'add', 'module');
      });
      expect(await judged(line, allowAll)).toBe('allow');
      script(join(work, hook));
      touched(join(work, 'module/a'));
      expect(await judged(line, allowAll)).toBe('ask');
      expect(await judged(line, { mode: 'assisted' })).toBe('ask');
      expect(run(line).hasRun).toBe(true);
    },
  );

  test.each([2, 3, 4])('an index of version %d is read', async (version) => {
    fresh((directory) => {
      git(directory, 'update-index', `--index-version=${version}`);
      for (const name of ['b', 'bcd', 'evil-not', 'f'.repeat(200)])
        writeFileSync(join(directory, name), name);
      git(directory, 'add', 'b', 'bcd', 'evil-not', 'f'.repeat(200));
      expect(execFileSync('git', ['ls-files', '--stage'], { cwd: directory, encoding: 'utf8' })).toContain(
        'bcd',
      );
    });
    expect(await judged('git status', { mode: 'assisted' })).toBe('allow');
    git(work, 'add', 'evil');
    expect(await judged('git status', { mode: 'assisted' })).toBe('ask');
  });

  test('an index that is split, or none at all, is not trusted', async () => {
    fresh((directory) => git(directory, 'update-index', '--split-index'));
    expect(await judged('git status', { mode: 'assisted' })).toBe('ask');
    writeFileSync(join(work, '.git/index'), 'DIRC\0\0\0\u0002\0\0\0\u0009');
    expect(await judged('git status', { mode: 'assisted' })).toBe('ask');
  });
});

describe('a line that writes what it then goes by', () => {
  test.each([
    'cp config .git/config && git status',
    'cp -r stuff/.git . && git status',
    'mv config .git/config; git status',
    'tar -xf stuff.tar && git status',
    'tar -xf stuff.tar && git commit --allow-empty -m x',
    'cp hook .git/hooks/pre-commit && git commit --allow-empty -m x',
    'mv hook .git/hooks/pre-commit && git commit --allow-empty -m x',
    'ln hook .git/hooks/pre-commit && git commit --allow-empty -m x',
    'install -m 755 hook .git/hooks/pre-commit && git commit --allow-empty -m x',
    'git commit --allow-empty -m x; cp hook .git/hooks/pre-commit; git commit --allow-empty -m y',
    'git add evil && git status --ignore-submodules=none',
    'rm -r .git && mv stuff/.git . && git commit --allow-empty -m x',
    `cp config .git/config && git log | cat; git status`,
  ])('%j is covered by no approvals of its parts, nor by a mode where a command is denied', async (line) => {
    fresh();
    expect(await judged(line, approvalOf(line))).toBe('ask');
    expect(await judged(line, allowAll)).toBe('ask');
    expect(run(line).hasRun).toBe(true);
  });

  test.each([
    'cat config > .git/config; git status',
    'cat hook > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit --allow-empty -m x',
    'cat hook | tee .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit; git commit --allow-empty -m x',
    'cd .git; cat ../config > config; cd ..; git status',
    'for f in 1 2; do git status; cp config .git/config; done',
  ])('%j is asked about where a command is denied', async (line) => {
    fresh();
    expect(await judged(line, allowAll)).toBe('ask');
    expect(run(line).hasRun).toBe(true);
  });

  test.each([
    'tar -xf links.tar && cat note',
    'tar -xf links.tar; head -1 n*',
    'tar -xf links.tar && grep -r tell .',
  ])('links that %j brings along are covered by no approvals of its parts', async (line) => {
    fresh();
    expect(await judged(line, approvalOf(line))).toBe('ask');
  });

  test('a definition that the line brings along is covered by no approvals of its parts', async () => {
    fresh((directory) => writeFileSync(join(directory, 'Makefile'), 'test:\n\ttrue\n'));
    const line = 'cp other.mk Makefile && make test';
    expect(await judged('make test', approvalOf(line))).toBe('allow');
    expect(await judged(line, approvalOf(line))).toBe('ask');
    expect(run(line).hasRun).toBe(true);
  });

  test('a name that the line makes an option of is covered by no approvals of its parts', async () => {
    fresh();
    const line = "touch -- '--checkpoint=1' '--checkpoint-action=exec=sh hook' && tar -cf x.tar *";
    expect(await judged(line, approvalOf(line))).toBe('ask');
    expect(run(line).hasRun).toBe(true);
  });

  test.each([
    'mkdir -p out && cp a out/b && ls out',
    'git add a && git commit -m x',
    'git add -A && git commit -m x && git push origin main',
    'git checkout -b x && git pull',
    'git stash && git pull && git stash pop',
    'rm -rf dist && make test',
    'cp a b && git add b && git commit -m x',
    'touch b && git status',
    'git commit -m x && git status',
    'git fetch && git status && git log -3',
    'npm install && npm test',
    'cat a | tee b',
  ])('%j stays covered by approvals of its parts', async (line) => {
    fresh();
    expect(await judged(line, approvalOf(line))).toBe('allow');
  });

  test.each([
    'git add -A && git commit -m x && git status',
    'git add . && git commit -m x && git push origin main && git status -sb && git diff --stat',
    'git mv a c && git status',
  ])('%j stays covered where no repository below would run something', async (line) => {
    fresh((directory) => {
      for (const name of ['evil', 'stuff']) rmSync(join(directory, name), { recursive: true, force: true });
    });
    expect(await judged(line, approvalOf(line))).toBe('allow');
    repository(join(work, 'deep/er/plain'));
    expect(await judged(line, approvalOf(line))).toBe('allow');
    git(join(work, 'deep/er/plain'), 'config', 'core.fsmonitor', 'touch ran');
    expect(await judged(line, approvalOf(line))).toBe('ask');
    expect(await judged(line, allowAll)).toBe('ask');
  });

  test('installed packages that are ignored are not looked through, unless one file takes that back', async () => {
    fresh((directory) => {
      for (const name of ['evil', 'stuff']) rmSync(join(directory, name), { recursive: true, force: true });
      writeFileSync(join(directory, '.gitignore'), 'node_modules/\n');
    });
    const line = 'git add -A && git commit -m x && git status';
    const nested = join(work, 'lib/node_modules/x');
    repository(nested);
    git(nested, 'config', 'core.fsmonitor', 'touch ran');
    expect(await judged(line, approvalOf(line))).toBe('allow');
    const forced = 'git add -f lib && git status';
    expect(await judged(forced, approvalOf(forced))).toBe('ask');
    writeFileSync(join(work, 'lib/.gitignore'), '!node_modules\n');
    expect(await judged(line, approvalOf(line))).toBe('ask');
  });

  test.each([
    'echo x > b && git add b && git commit -m x',
    'mkdir -p out && echo x > out/b && git status',
    'git add -A && git commit -m x && git push origin main',
    'tar -xf links.tar && ls',
  ])('%j still runs unasked where another command is denied', async (line) => {
    fresh();
    expect(await judged(line, allowAll)).toBe('allow');
  });
});

describe('what an earlier command wrote, where another command is denied', () => {
  test.each(['git status', 'git diff'])('%j runs the hook for changes of the index: asked', async (line) => {
    fresh();
    expect(await judged(line, allowAll)).toBe('allow');
    script(join(work, '.git/hooks/post-index-change'));
    touched(join(work, 'a'));
    expect(await judged(line, allowAll)).toBe('ask');
    expect(run(line).hasRun).toBe(true);
    rmSync(join(work, '.git/hooks/post-index-change'));
    git(work, 'config', 'core.hooksPath', 'others');
    expect(await judged(line, allowAll)).toBe('allow');
    mkdirSync(join(work, 'others'));
    script(join(work, 'others/post-index-change'));
    expect(await judged(line, allowAll)).toBe('ask');
  });

  const { HOME: home } = environment;
  const own = join(home, '.gitconfig');
  const mark = join(world, 'bin/mark');
  beforeEach(() => {
    vi.stubEnv('HOME', home);
    vi.stubEnv('XDG_CONFIG_HOME', '');
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true });
    mkdirSync(home);
  });
  test.each<[string, string, string]>([
    ['git status', own, `[core]\n\tfsmonitor = ${mark}\n`],
    ['git status', join(home, '.config/git/config'), `[core]\n\tfsmonitor = ${mark}\n`],
    ['git status', own, `[include]\n\tpath = ${join(home, 'included')}\n`],
    ['git diff', own, `[diff]\n\texternal = ${mark}\n`],
    ['git add b', own, `[filter "x"]\n\tclean = ${mark}\n`],
    ['git checkout -b b', own, `[core]\n\thooksPath = ~/hooks\n`],
    ['git checkout -b b', own, `[core]\n\thooksPath = ${join(home, 'hooks')}\n`],
  ])('%j goes by settings of the user in %j with %j: asked', async (line, file, text) => {
    fresh((directory) => {
      writeFileSync(join(directory, '.gitattributes'), 'b filter=x\n');
      for (const name of ['a', 'b']) writeFileSync(join(directory, name), 'other\n');
    });
    expect(await judged(line, allowAll)).toBe('allow');
    for (const place of [join(home, 'hooks'), dirname(file)]) mkdirSync(place, { recursive: true });
    script(join(home, 'hooks/post-checkout'));
    writeFileSync(join(home, 'included'), `[core]\n\tfsmonitor = ${mark}\n`);
    writeFileSync(file, text);
    expect(await judged(line, allowAll)).toBe('ask');
    expect(run(line).hasRun).toBe(true);
    writeFileSync(file, '[user]\n\tname = x\n');
    expect(await judged(line, allowAll)).toBe('allow');
  });

  test.each([
    ['wget http://127.0.0.1:1/', '.wgetrc', `use_askpass = ${mark}\n`],
    ['curl http://127.0.0.1:1/', '.curlrc', 'engine = ./x.so\n'],
    ['curl http://127.0.0.1:1/', '.config/curlrc', 'engine = ./x.so\n'],
    ['git ls-remote ssh://git.example.com/x', '.ssh/config', `ProxyCommand ${mark}\n`],
    ['git fetch', '.ssh/config', `ProxyCommand ${mark}\n`],
  ])('%j goes by ~/%s, and that says %j: asked', async (line, file, text) => {
    fresh();
    expect(await judged(line, allowAll)).toBe('allow');
    mkdirSync(dirname(join(home, file)), { recursive: true });
    writeFileSync(join(world, 'elsewhere'), text);
    symlinkSync(join(world, 'elsewhere'), join(home, file));
    expect(await judged(line, allowAll)).toBe('ask');
  });
});

describe('what is unpacked', () => {
  test.each([
    'tar -xf in.tar',
    'tar xf in.tar',
    'tar -x -f in.tar -C sub',
    'unzip -o in.zip',
    'unzip -o in.zip -d .',
  ])('%j is asked about where a link leads out: the archive may name a file below it', async (line) => {
    const directory = line.includes('sub') ? 'sub' : '.';
    fresh((place) => {
      mkdirSync(join(place, directory), { recursive: true });
      mkdirSync(join(world, 'archive/way'), { recursive: true });
      writeFileSync(join(world, 'archive/way/note'), 'x');
      execFileSync('tar', ['-cf', join(place, 'in.tar'), '-C', join(world, 'archive'), 'way/note']);
      if (line.startsWith('unzip'))
        execFileSync('zip', ['-qr', join(place, 'in.zip'), 'way/note'], { cwd: join(world, 'archive') });
    });
    rmSync(join(work, 'links'), { recursive: true, force: true });
    expect(await judged(line, approvalOf(line))).toBe('allow');
    mkdirSync(join(world, 'outside'), { recursive: true });
    symlinkSync(join(world, 'outside'), join(work, directory, 'way'));
    expect(await judged(line, approvalOf(line))).toBe('ask');
    execFileSync('bash', ['-c', line], { cwd: work, stdio: 'ignore' });
    expect(existsSync(join(world, 'outside/note'))).toBe(true);
    rmSync(join(world, 'outside'), { recursive: true });
  });

  test('links that stay inside, and those to files, are no reason to ask', async () => {
    fresh((place) => {
      mkdirSync(join(place, 'lib/bin'), { recursive: true });
      symlinkSync('../../a', join(place, 'lib/bin/tool'));
      symlinkSync('lib', join(place, 'same'));
    });
    rmSync(join(work, 'links'), { recursive: true, force: true });
    expect(await judged('tar -xf links.tar', approvalOf('tar -xf links.tar'))).toBe('allow');
  });
});

describe('what a repository shows and borrows', () => {
  test.each([
    ['git log', '.git/info/grafts'],
    ['git show-ref', '.git/packed-refs'],
    ['git status', '.git/rebase-merge/done'],
    ['git status', '.git/BISECT_START'],
    ['git worktree list', '.git/worktrees/x/gitdir'],
    ['git worktree list --porcelain', '.git/worktrees/x/locked'],
    ['git worktree list', '.git/worktrees/x'],
  ])('%j is asked about when %s is a link', async (line, name) => {
    fresh((directory) => {
      mkdirSync(join(directory, name, '..'), { recursive: true });
      rmSync(join(directory, name), { force: true });
    });
    expect(await judged(line, { mode: 'assisted' })).toBe('allow');
    symlinkSync(join(world, 'secret'), join(work, name));
    expect(await judged(line, { mode: 'assisted' })).toBe('ask');
  });

  test('what `.git/commondir` leads to decides what git runs: it is asked about', async () => {
    fresh((directory) => {
      cpSync(join(directory, '.git'), join(directory, 'shared'), { recursive: true });
      const driver = `[diff "x"]\n\ttextconv = ${join(world, 'bin/mark')}\n`;
      writeFileSync(join(directory, 'shared/config'), driver, { flag: 'a' });
      writeFileSync(join(directory, '.gitattributes'), '* diff=x\n');
    });
    const line = 'git log -p -1';
    expect(await judged(line, { mode: 'assisted' })).toBe('allow');
    writeFileSync(join(work, '.git/commondir'), '../shared\n');
    rmSync(canary, { force: true });
    git(work, ...line.split(' ').slice(1));
    expect(existsSync(canary)).toBe(true);
    expect(await judged(line, { mode: 'assisted' })).toBe('ask');
    expect(await judged(line, approvalOf(line))).toBe('ask');
  });

  test('a `.git` that leads to another repository is asked about, a linked work tree is not', async () => {
    fresh();
    repository(join(world, 'private'));
    rmSync(join(work, '.git'), { recursive: true });
    writeFileSync(join(work, '.git'), `gitdir: ${join(world, 'private/.git')}\n`);
    expect(await judged('git log', { mode: 'assisted' })).toBe('ask');
    rmSync(work, { recursive: true });
    git(join(world, 'private'), 'worktree', 'add', '-q', work);
    expect(await judged('git log', { mode: 'assisted' })).toBe('allow');
    rmSync(join(world, 'private'), { recursive: true });
  });

  test.each([
    '[gc]\n\trecentObjectsHook = mark\n',
    '[lfs "extension.x"]\n\tclean = mark\n',
    '[blame]\n\tignoreRevsFile = /etc/passwd\n',
    '[core]\n\texcludesFile = /etc/passwd\n',
    '[branch "main"]\n\tmergeOptions = -s x\n',
    '[receive]\n\tprocReceiveRefs = x\n',
  ])('with the settings %j git is asked about', async (text) => {
    fresh((directory) => writeFileSync(join(directory, '.git/config'), text, { flag: 'a' }));
    expect(await judged('git log', { mode: 'assisted' })).toBe('ask');
    expect(await judged('git commit -m x', allowAll)).toBe('ask');
  });

  test('a pipe in place of settings does not block a decision', async () => {
    fresh((directory) => {
      rmSync(join(directory, '.git/config'));
      execFileSync('mkfifo', [join(directory, '.git/config')]);
    });
    expect(await judged('git log', { mode: 'assisted' })).toBe('ask');
    rmSync(join(work, '.git/config'));
  });
});

describe('a push', () => {
  const forced = [
    'git push -f',
    'git push --force origin main',
    'git push --force-with-lease',
    'git push --force-with-lease=main:abc origin main',
    'git push --force-w origin',
    'git push origin +main',
    'git push origin +main:main',
    'git push origin +refs/heads/*:refs/heads/*',
    'git push --mirror',
    'git push -qf origin',
    'git -C . push origin +HEAD',
    'git push -- origin +main',
  ];
  const deleting = [
    'git push -d origin main',
    'git push origin --delete main',
    'git push origin :main',
    'git push origin +:main',
    'git push --prune origin',
    'git push --mirror origin',
  ];
  test.each(forced)('%j is what a rule that denies `git push --force` means', async (line) => {
    fresh();
    const deny = [{ kind: 'shell', argument: 'git push --force' }];
    expect(await judged(line, { mode: 'allow-all', deny })).toBe('deny');
  });

  test.each(deleting)('%j is what a rule that denies `git push --delete` means', async (line) => {
    fresh();
    const deny = [{ kind: 'shell', argument: 'git push --delete' }];
    expect(await judged(line, { mode: 'allow-all', deny })).toBe('deny');
  });

  test.each([...forced, ...deleting])('%j is not covered by an approval of `git push`', async (line) => {
    fresh();
    const approvals = [{ kind: 'commands', commandIdentifiers: ['git push'] }];
    expect(await judged(line, { approvals })).toBe('ask');
    expect(await judged('git push origin main', { approvals })).toBe('allow');
  });

  test.each([
    '[remote "origin"]\n\tpush = +refs/heads/*:refs/heads/*\n',
    '[remote "origin"]\n\tpush = :old\n',
    '[remote "origin"]\n\tmirror = true\n',
    '[remote "origin"]\n\turl = ./target\n',
    '[remote "origin"]\n\turl = https://example.com/x\n\tpushurl = ./target\n',
  ])('with the settings %j it is asked about', async (text) => {
    fresh((directory) => writeFileSync(join(directory, '.git/config'), text, { flag: 'a' }));
    const approvals = [{ kind: 'commands', commandIdentifiers: ['git push'] }];
    expect(await judged('git push origin main', { approvals })).toBe('ask');
    expect(await judged('git push', { approvals })).toBe('ask');
    expect(await judged('git push', allowAll)).toBe('ask');
  });

  test.each(['git push ./target main', 'git push target main', `git push file://${work}/target main`])(
    'to a repository of this machine, whose hooks run here, %j is asked about',
    async (line) => {
      fresh();
      expect(
        await judged(line, { approvals: [{ kind: 'commands', commandIdentifiers: ['git push'] }] }),
      ).toBe('ask');
      expect(await judged(line, allowAll)).toBe('ask');
      expect(run(line).hasRun).toBe(true);
    },
  );

  test.each([
    'git remote add -f here ./stuff',
    'git remote show here',
    'git remote update',
    'git remote prune here',
    'git remote set-head here -a',
  ])('%j would talk to a repository of this machine: it is asked about', async (line) => {
    fresh((directory) =>
      writeFileSync(join(directory, '.git/config'), '[remote "there"]\n\turl = https://example.com/x\n', {
        flag: 'a',
      }),
    );
    if (!line.includes('add')) git(work, 'remote', 'add', 'here', './stuff');
    expect(await judged(line, approvalOf(line))).toBe('ask');
    const elsewhere = line.replace('./stuff', 'https://example.com/x').replace('here', 'there');
    if (!line.includes('update')) expect(await judged(elsewhere, approvalOf(elsewhere))).toBe('allow');
  });

  test('remotes that are described in files of their own are asked about', async () => {
    fresh((directory) => {
      mkdirSync(join(directory, '.git/remotes'));
      writeFileSync(join(directory, '.git/remotes/origin'), 'URL: ./target\nPush: main\n');
    });
    const approvals = [{ kind: 'commands', commandIdentifiers: ['git push'] }];
    expect(await judged('git push origin', allowAll)).toBe('ask');
    expect(await judged('git push origin', { approvals })).toBe('ask');
    expect(run('git push origin').hasRun).toBe(true);
  });
});

test.each(['git rebase --continue', 'git rebase --skip'])(
  '%j runs what the list says by now, so it is covered by no approval of `git rebase`',
  async (line) => {
    fresh((directory) => {
      writeFileSync(join(directory, 'a'), 'main\n');
      git(directory, 'commit', '-qam', 'two');
      git(directory, 'checkout', '-q', '-b', 'x', 'HEAD~1');
      writeFileSync(join(directory, 'a'), 'x\n');
      git(directory, 'commit', '-qam', 'three');
      spawnRebase(directory);
      writeFileSync(join(directory, '.git/rebase-merge/git-rebase-todo'), 'exec mark </dev/null\n');
      writeFileSync(join(directory, 'a'), 'both\n');
      git(directory, 'add', 'a');
    });
    const approvals = [{ kind: 'commands', commandIdentifiers: ['git rebase'] }];
    expect(await judged('git rebase main', { approvals })).toBe('allow');
    expect(await judged(line, { approvals })).toBe('ask');
    expect(await judged(line, allowAll)).toBe('ask');
    expect(run(`GIT_EDITOR=true ${line}`).hasRun).toBe(true);
  },
);

/** It stops at a conflict. */
function spawnRebase(directory: string): void {
  expect(() => git(directory, 'rebase', '-q', 'main')).toThrow();
}

test.each([
  ['chmod 777', 'chmod -v 777 x'],
  ['npm publish', 'npm --silent publish'],
  ['git push', 'git -c a.b=c push'],
  ['git push origin main', 'git push -u origin main'],
  ['git branch -D', 'git branch -d -f x'],
  ['git branch -D', 'git branch --delete --force x'],
  ['git branch --delete', 'git branch -D x'],
  ['git switch --force', 'git switch --discard-changes x'],
  ['git tag --delete', 'git tag -d x'],
  ['make deploy', 'make test deploy'],
  ['cp --recursive', 'cp -a x y'],
])('a rule that denies %j denies %j', async (argument, line) => {
  fresh();
  expect(await judged(line, { mode: 'allow-all', deny: [{ kind: 'shell', argument }] })).toBe('deny');
});
