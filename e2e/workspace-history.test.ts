import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();

function workIn(name: string): string {
  const directory = join(runtime.workingDirectory, name);
  mkdirSync(directory);
  return directory;
}

function git(directory: string, ...parameters: readonly string[]): void {
  const identity = ['-c', 'user.name=Ann', '-c', 'user.email=ann@example.com'];
  execFileSync('git', [...identity, ...parameters], { cwd: directory, stdio: 'ignore' });
}

/** A repository with a branch of its own, and changes of every kind. */
function repository(name: string): string {
  const directory = workIn(name);
  git(directory, 'init', '-q', '-b', 'main');
  writeFileSync(join(directory, 'a.txt'), 'one\n');
  writeFileSync(join(directory, 'gone.txt'), 'gone\n');
  writeFileSync(join(directory, 'old.txt'), 'a\nb\nc\nd\n');
  git(directory, 'add', '.');
  git(directory, 'commit', '-qm', 'First');
  git(directory, 'checkout', '-qb', 'feature');
  writeFileSync(join(directory, 'feature.txt'), 'feature\n');
  git(directory, 'add', '.');
  git(directory, 'commit', '-qm', 'Second');
  writeFileSync(join(directory, 'a.txt'), 'one\ntwo\n');
  rmSync(join(directory, 'gone.txt'));
  git(directory, 'mv', 'old.txt', 'new name.txt');
  writeFileSync(join(directory, 'ünknown.txt'), 'untracked\n');
  return directory;
}

interface Diff {
  readonly mode: string;
  readonly changes: readonly { readonly path: string; readonly changeType: string; readonly diff: string }[];
}

describe('the diff of the working tree', () => {
  test('is from the last commit, or from where the branch began', async () => {
    const { session } = await runtime.session([], { workingDirectory: repository('diff') });
    const unstaged = await session.call<Diff>('session.workspaces.diff', { mode: 'unstaged' });
    expect(unstaged).toMatchObject({ requestedMode: 'unstaged', mode: 'unstaged', isFallback: false });
    const kinds = ({ changes }: Diff) => changes.map(({ path, changeType }) => `${changeType} ${path}`);
    expect(kinds(unstaged)).toEqual([
      'modified a.txt',
      'deleted gone.txt',
      'renamed new name.txt',
      'added ünknown.txt',
    ]);
    expect(unstaged.changes[0]?.diff).toMatch(
      /^diff --git a\/a\.txt b\/a\.txt\nindex .*\n--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -1 \+1,2 @@\n one\n\+two$/,
    );
    expect(unstaged.changes[2]).toMatchObject({
      oldPath: 'old.txt',
      diff: 'diff --git a/old.txt b/new name.txt\nsimilarity index 100%\nrename from old.txt\nrename to new name.txt',
    });
    expect(unstaged.changes[3]?.diff).toBe(
      'diff --git a/ünknown.txt b/ünknown.txt\nnew file mode 100644\n--- /dev/null\n+++ b/ünknown.txt\n@@ -0,0 +1,1 @@\n+untracked',
    );
    const branch = await session.call<Diff>('session.workspaces.diff', { mode: 'branch' });
    expect(branch).toMatchObject({ mode: 'branch', baseBranch: 'main', isFallback: false });
    expect(kinds(branch)).toContain('added feature.txt');
    expect(await session.call('session.workspaces.diff', { mode: 'session' })).toMatchObject({
      requestedMode: 'session',
      mode: 'unstaged',
      isFallback: true,
      unavailableReason: 'file-change-tracking-disabled',
    });
    expect(await session.failure('session.workspaces.diff', { mode: 'all' })).toMatchObject({
      message: expect.stringContaining("Invalid diff mode 'all'"),
    });
  });

  test('is empty outside a repository, and falls back where there is no branch to compare with', async () => {
    const { session } = await runtime.session([], { workingDirectory: workIn('plain') });
    expect(await session.call('session.workspaces.diff', { mode: 'branch' })).toEqual({
      requestedMode: 'branch',
      mode: 'unstaged',
      changes: [],
      baseBranch: 'main',
      isFallback: true,
    });
  });

  test.each<[string, (directory: string, program: string) => void, string]>([
    [
      'its settings',
      (directory, program) => {
        writeFileSync(join(directory, '.gitattributes'), '* filter=evil\n');
        git(directory, 'config', 'filter.evil.clean', program);
      },
      'filter.clean',
    ],
    [
      'the settings of its work tree',
      (directory, program) => {
        writeFileSync(join(directory, '.gitattributes'), '* filter=evil\n');
        git(directory, 'config', 'extensions.worktreeConfig', 'true');
        git(directory, 'config', '--worktree', 'filter.evil.clean', program);
      },
      'filter.clean',
    ],
    [
      'a repository in it',
      (directory, program) => {
        const nested = join(directory, 'nested');
        mkdirSync(nested);
        git(nested, 'init', '-q', '-b', 'main');
        writeFileSync(join(nested, 'a.txt'), 'one\n');
        git(nested, 'add', '.');
        git(nested, 'commit', '-qm', 'First');
        git(directory, 'add', 'nested');
        git(directory, 'config', '-f', '.gitmodules', 'submodule.nested.path', 'nested');
        git(directory, 'config', 'submodule.nested.ignore', 'none');
        writeFileSync(join(nested, '.gitattributes'), '* filter=evil\n');
        writeFileSync(join(nested, 'a.txt'), 'two\n');
        git(nested, 'config', 'filter.evil.clean', program);
      },
      'in a nested one',
    ],
  ])('runs nothing that %s name', async (name, prepare, reason) => {
    const directory = repository(`hostile ${name}`);
    const mark = join(runtime.workingDirectory, 'ran');
    prepare(directory, `touch '${mark}'; cat`);
    const { session } = await runtime.session([], { workingDirectory: directory });
    expect(await session.failure('session.workspaces.diff', { mode: 'unstaged' })).toMatchObject({
      message: expect.stringMatching(`Git could run programs: .*${reason}.*No diff is made`),
    });
    expect(existsSync(mark)).toBe(false);
  });

  test('of the session is what its tools made of files, for any client', async () => {
    const directory = workIn('session-diff');
    writeFileSync(join(directory, 'old.txt'), 'one\ntwo\n');
    const { session } = await runtime.session(
      [
        callTools(
          { id: 'c1', name: 'create', arguments: { path: 'new.txt', file_text: 'hello\nyou\n' } },
          { id: 'c2', name: 'edit', arguments: { path: 'old.txt', old_str: 'two', new_str: '2' } },
        ),
        say('done'),
      ],
      { workingDirectory: directory, enableFileChangeTracking: true },
    );
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    await session.turn('Write');
    const { changes } = await session.call<Diff>('session.workspaces.diff', { mode: 'session' });
    expect([...changes].sort((one, other) => (one.path < other.path ? -1 : 1))).toEqual([
      {
        path: 'new.txt',
        changeType: 'added',
        diff: 'diff --git a/new.txt b/new.txt\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1,2 @@\n+hello\n+you',
      },
      {
        path: 'old.txt',
        changeType: 'modified',
        diff: 'diff --git a/old.txt b/old.txt\n--- a/old.txt\n+++ b/old.txt\n@@ -1,2 +1,2 @@\n one\n-two\n+2',
      },
    ]);
  });
});

test('a long text is kept as a file of its own, also two at once', async () => {
  const { session } = await runtime.session([]);
  const save = (content: string) =>
    session.call<{ saved: { filePath: string; filename: string; sizeBytes: number } }>(
      'session.workspaces.saveLargePaste',
      { content },
    );
  const first = (await save('ü'.repeat(2000))).saved;
  expect(first).toEqual({
    filePath: join(runtime.home.path, 'session-state', session.sessionId, 'files', first.filename),
    filename: expect.stringMatching(/^paste-\d+(-\d+)?\.txt$/),
    sizeBytes: 4000,
  });
  const second = (await save('other')).saved;
  expect(second.filename).not.toBe(first.filename);
  expect(readFileSync(first.filePath, 'utf8')).toBe('ü'.repeat(2000));
  expect(await session.call('session.workspaces.readFile', { path: second.filename })).toEqual({
    content: 'other',
  });
});

test('checkpoints of compactions are listed and read by their number', async () => {
  const summary = say('<overview>Talk.</overview><checkpoint_title>All about | talk</checkpoint_title>');
  const { session } = await runtime.session([say('one'), summary]);
  expect(await session.call('session.workspaces.listCheckpoints')).toEqual({ checkpoints: [] });
  await session.turn('First');
  await session.call('session.history.compact');
  const list = { checkpoints: [{ number: 1, title: 'All about / talk', filename: '001-all-about-talk.md' }] };
  expect(await session.call('session.workspaces.listCheckpoints')).toEqual(list);
  expect(await session.call('session.workspaces.readCheckpoint', { number: 1 })).toEqual({
    content: '<overview>Talk.</overview>',
  });
  expect(await session.call('session.workspaces.readCheckpoint', { number: 4294967294 })).toEqual({
    content: null,
  });
  const directory = join(runtime.home.path, 'session-state', session.sessionId, 'checkpoints');
  renameSync(directory, `${directory}-moved`);
  symlinkSync(runtime.home.path, directory);
  expect(await session.call('session.workspaces.listCheckpoints')).toEqual({ checkpoints: [] });
});
