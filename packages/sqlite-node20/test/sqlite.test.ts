import { cpSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';

const require = createRequire(import.meta.url);
const source = join(import.meta.dirname, '../sqlite.cjs');
const installed = join(import.meta.dirname, '../../../node_modules/@photostructure/sqlite');
const library = join(
  'prebuilds',
  `${process.platform}-${process.arch}`,
  `@photostructure+sqlite.${existsSync('/etc/alpine-release') ? 'musl' : 'glibc'}.node`,
);

const root = mkdtempSync(join(tmpdir(), 'groundcrew-sqlite-'));
afterAll(() => rm(root, { recursive: true, force: true }));

let trees = 0;

/** What is loaded where an app has both packages, with these files in the other one. */
function loadBeside(files: Readonly<Record<string, string>>): unknown {
  trees += 1;
  const modules = join(root, String(trees), 'node_modules');
  const ours = join(modules, '@groundcrew/sqlite-node20/sqlite.cjs');
  mkdirSync(dirname(ours), { recursive: true });
  cpSync(source, ours);
  const all = {
    'package.json': '{ "main": "index.js" }',
    'index.js': 'module.exports = "package"',
    ...files,
  };
  for (const [name, text] of Object.entries(all)) {
    const path = join(modules, '@photostructure/sqlite', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return require(ours);
}

describe.runIf(existsSync(installed))('the library that is shipped', () => {
  test('is loaded without the rest of its package, and works', () => {
    const { DatabaseSync } = require(source);
    const database = new DatabaseSync(':memory:');
    expect(database.prepare('SELECT ? AS answer').get(42)).toEqual({ answer: 42 });
    database.close();
    expect(Object.keys(require.cache).filter((path) => path.startsWith(join(installed, 'dist')))).toEqual([]);
  });
});

describe('the package finds its library itself', () => {
  test.each([
    ['where none is shipped for this machine', {}],
    ['where the shipped one cannot be loaded', { [library]: 'no library' }],
    ['where one was compiled', { [library]: 'no library', 'build/Release/sqlite.node': 'compiled' }],
  ])('%s', (_case, files) => {
    expect(loadBeside(files)).toBe('package');
  });
});
