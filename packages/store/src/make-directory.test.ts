import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { makeDirectory } from './make-directory.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'groundcrew-directory-'));
});
afterEach(() => rmSync(root, { recursive: true }));

test('all that is missing is made, for its owner alone, and what is there is left alone', () => {
  const path = join(root, 'a', 'b', 'c');
  for (let time = 0; time < 2; time += 1) makeDirectory(path);
  const modes = ['a', 'a/b', 'a/b/c'].map((name) => (statSync(join(root, name)).mode & 0o777).toString(8));
  expect(modes).toEqual(['700', '700', '700']);
});

test('what stands in the way is named', () => {
  writeFileSync(join(root, 'file'), '');
  expect(() => makeDirectory(join(root, 'file', 'a', 'b'))).toThrow('ENOTDIR');
});

test.runIf(process.platform === 'linux')('where nothing can be made, that is said at once', () => {
  expect(() => makeDirectory('/proc/groundcrew/run')).toThrow('ENOENT');
});
