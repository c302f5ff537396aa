import { existsSync, mkdirSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
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

test('is removed by its maker, as long as it is empty', async () => {
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
