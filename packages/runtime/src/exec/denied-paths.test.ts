import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from '@groundcrew/testkit';
import { afterAll, expect, test } from 'vitest';
import type { Rule } from '../permissions/rules.js';
import { fileSearch } from '../tools/file-search.js';
import { findDenied } from './denied-paths.js';

const home = temporaryDirectory();
afterAll(() => home.remove());
const root = realpathSync(home.path);
for (const name of [
  'a/.env',
  '.env',
  'a/b/secrets/one',
  'a/b/secrets/two',
  'keys/x.pem',
  'keys/y.txt',
  'read.me',
]) {
  mkdirSync(join(root, name, '..'), { recursive: true });
  writeFileSync(join(root, name), '');
}
const path = (argument: string, kind = 'path'): Rule => ({ kind, argument });
const find = (...rules: readonly Rule[]) =>
  findDenied(rules, { workingDirectory: root, roots: [root, join(root, 'a')] }, fileSearch());
const names = (paths: readonly string[]) => paths.map((each) => each.slice(root.length + 1)).sort();

test('names are what they are, and what is not there is nothing', async () => {
  const { hidden, frozen, isNarrow } = await find(path('read.me'), path('missing'), path('keys', 'write'));
  expect([names(hidden), names(frozen), isNarrow]).toEqual([['read.me'], ['keys'], false]);
});

test('a pattern is looked up: files as they are, directories as a whole', async () => {
  const anywhere = await find(path('**/.env'), path('secrets*'));
  expect([names(anywhere.hidden), anywhere.isNarrow]).toEqual([['.env', 'a/.env', 'a/b/secrets'], true]);
  const here = await find(path('keys/*.pem'), path(`${root}/a/**/t*`));
  expect([names(here.hidden), here.isNarrow]).toEqual([['a/b/secrets/two', 'keys/x.pem'], false]);
});

test('a rule whose files cannot all be found is too wide', async () => {
  const rule = path('**/.env');
  const where = { workingDirectory: root, roots: [root] };
  expect((await findDenied([rule], where, async () => undefined)).tooWide).toEqual([rule]);
  const many = Array.from({ length: 1001 }, (_, index) => `d${index}/.env`);
  expect((await findDenied([rule], where, async () => many)).tooWide).toEqual([rule]);
});
