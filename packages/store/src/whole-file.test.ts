import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { writeWholeFile } from './whole-file.js';

const root = mkdtempSync(join(tmpdir(), 'groundcrew-whole-file-'));
afterAll(() => rmSync(root, { recursive: true }));

const file = join(root, 'file.json');

test('a file is replaced by one that only its owner can read', () => {
  writeFileSync(file, 'before', { mode: 0o644 });
  writeWholeFile(file, 'after', (draft) => {
    expect([readFileSync(draft, 'utf8'), readFileSync(file, 'utf8')]).toEqual(['after', 'before']);
  });
  expect(readFileSync(file, 'utf8')).toBe('after');
  if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(root)).toEqual(['file.json']);
});

test('what cannot be put in its place leaves the file as it was, and nothing beside it', () => {
  writeWholeFile(file, 'before');
  const refuse = () => {
    throw new Error('not fit');
  };
  expect(() => writeWholeFile(file, 'after', refuse)).toThrow('not fit');
  const taken = join(root, 'taken');
  mkdirSync(taken);
  expect(() => writeWholeFile(taken, 'text')).toThrow();
  expect(readFileSync(file, 'utf8')).toBe('before');
  expect(readdirSync(root)).toEqual(['file.json', 'taken']);
});
