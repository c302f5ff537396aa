import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@groundcrew/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { findExecutable } from './executable.js';

test('the first program of a name is found: directories, files that may not be run and links to nothing are passed over', () => {
  const { path: root, remove } = temporaryDirectory();
  onTestFinished(remove);
  const places = ['none', 'directory', 'text', 'broken', 'linked', 'plain'].map((name) => join(root, name));
  const [, directory = '', text = '', broken = '', linked = '', plain = ''] = places;
  mkdirSync(join(directory, 'tool'), { recursive: true });
  for (const place of [text, broken, linked, plain]) mkdirSync(place);
  writeFileSync(join(text, 'tool'), '');
  symlinkSync(join(root, 'nothing'), join(broken, 'tool'));
  writeFileSync(join(plain, 'tool'), '');
  chmodSync(join(plain, 'tool'), 0o755);
  symlinkSync(join(plain, 'tool'), join(linked, 'tool'));

  expect(findExecutable('tool', places)).toBe(join(linked, 'tool'));
  expect(findExecutable('tool', [plain])).toBe(join(plain, 'tool'));
  expect(findExecutable('tool', [directory, text, broken])).toBeUndefined();
  expect(findExecutable(join(plain, 'tool'), [''])).toBe(join(plain, 'tool'));
});
