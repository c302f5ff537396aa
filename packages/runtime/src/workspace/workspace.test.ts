import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { Workspace } from './workspace.js';

const root = mkdtempSync(join(tmpdir(), 'groundcrew-workspace-'));
afterAll(() => rm(root, { recursive: true, force: true }));

const isThere = ({ directory }: Workspace) => [directory, join(directory, 'files')].map(existsSync);

test('is made for its owner alone, also where nothing above it is there yet', async () => {
  const first = new Workspace(join(root, 'new', 'session-state', 'one'));
  const second = new Workspace(join(root, 'new', 'session-state', 'two'));
  await first.make();
  await second.make();
  for (const { directory } of [first, second])
    expect([directory, join(directory, 'files')].map((path) => statSync(path).mode & 0o777)).toEqual([
      0o700, 0o700,
    ]);
});

test('is taken back by whoever made it, as long as nobody has put anything there', async () => {
  const [mine, theirs] = [new Workspace(join(root, 'mine')), new Workspace(join(root, 'mine'))];
  await mine.make();
  await theirs.make();
  await theirs.unmake();
  expect(isThere(mine)).toEqual([true, true]);
  await mine.unmake();
  expect(isThere(mine)).toEqual([false, false]);

  const used = new Workspace(join(root, 'deep', 'used'));
  await used.make();
  await used.writeFile('note.txt', 'kept');
  await used.unmake();
  expect(await used.readFile('note.txt')).toBe('kept');
});

test('gets the files directory that is missing', async () => {
  const workspace = new Workspace(join(root, 'half'));
  mkdirSync(workspace.directory);
  await workspace.make();
  expect(isThere(workspace)).toEqual([true, true]);
});

test('whose place is taken is refused', async () => {
  writeFileSync(join(root, 'file'), '');
  const workspace = new Workspace(join(root, 'file', 'session'));
  await expect(workspace.make()).rejects.toMatchObject({ name: 'StoreError' });
  await workspace.unmake();
});

test('a directory that is flipped with a link all the while never leads a file outside', async () => {
  const workspace = new Workspace(join(root, 'flipped'));
  await workspace.make();
  const outside = join(root, 'outside');
  const [inner, kept, link] = ['a', 'kept', 'link'].map((name) => join(workspace.directory, 'files', name));
  mkdirSync(outside);
  mkdirSync(inner ?? '');
  symlinkSync(outside, link ?? '');
  const script = `const { renameSync } = require('node:fs'); const [a, kept, link] = process.argv.slice(1);
    for (;;) { renameSync(a, kept); renameSync(link, a); renameSync(a, link); renameSync(kept, a); }`;
  const flipping = spawn(process.execPath, ['-e', script, inner ?? '', kept ?? '', link ?? '']);
  for (let count = 0; count < 40; count++)
    await workspace.writeFile(`a/${count}`, 'x').catch(() => undefined);
  flipping.kill('SIGKILL');
  await once(flipping, 'exit');
  expect(readdirSync(outside)).toEqual([]);
});
