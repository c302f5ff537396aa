import { mkdirSync, renameSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { locate } from '../workspace/paths.js';
import { withHeldTree } from './unchanged-tree.js';

const world = ToolWorld.forEachTest();
const files = ['top.txt', 'a/one.txt', 'a/deep/two.txt', 'b/three.txt'];

/** Which files are proven to have been where they are, after `meanwhile` happened; the tree was left alone before. */
async function provenAfter(meanwhile: () => void): Promise<readonly string[] | undefined> {
  const place = await locate('.', { workingDirectory: world.path(), allowedDirectories: [] });
  const last = Math.max(...['', 'a', 'a/deep', 'b'].map((name) => statSync(world.path(name)).ctimeMs));
  await vi.waitUntil(() => Date.now() - last > 30, { interval: 5 });
  return withHeldTree(place, async (tree) => {
    meanwhile();
    return [...(await tree.unchanged(files))];
  });
}

function fill(): void {
  mkdirSync(world.path('a', 'deep'), { recursive: true });
  mkdirSync(world.path('b'));
  mkdirSync(world.outside('deep'));
  for (const file of files) writeFileSync(world.path(file), 'text');
  writeFileSync(world.outside('one.txt'), 'secret');
}

function swap(name: string): void {
  renameSync(world.path(name), world.path('was'));
  symlinkSync(world.outside(), world.path(name));
}

const onLinux = test.skipIf(process.platform !== 'linux');

onLinux('in a tree that is left alone, all is proven; new text in a file changes no path', async () => {
  fill();
  expect(await provenAfter(() => writeFileSync(world.path('a', 'one.txt'), 'other text'))).toEqual(files);
});

onLinux('a swap below a directory takes the proof from all in it, and from nothing else', async () => {
  fill();
  expect(await provenAfter(() => renameSync(world.path('a', 'deep'), world.path('a', 'was')))).toEqual([
    'top.txt',
    'b/three.txt',
  ]);
});

onLinux('a swap that was undone counts, whatever times users give to the directory', async () => {
  fill();
  const proven = await provenAfter(() => {
    swap('a');
    renameSync(world.path('a'), world.path('link'));
    renameSync(world.path('was'), world.path('a'));
    utimesSync(world.path(), 1, 1);
  });
  expect(proven).toEqual([]);
});

onLinux('a link that stands in the path since long proves nothing', async () => {
  fill();
  swap('a');
  expect(await provenAfter(() => undefined)).toEqual(['top.txt', 'b/three.txt']);
});

onLinux('where a file system keeps no change times of ours, nothing is held', async () => {
  const place = { path: '/proc', real: '/proc', kind: 'directory', isInside: true } as const;
  expect(await withHeldTree(place, async () => 'held')).toBeUndefined();
});
