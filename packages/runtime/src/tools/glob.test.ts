import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { globTool } from './glob.js';

const world = ToolWorld.forEachTest();
const glob = globTool();

function fill(...names: readonly string[]): void {
  for (const name of names) {
    mkdirSync(dirname(world.path(name)), { recursive: true });
    writeFileSync(world.path(name), '');
  }
}

test('files are found at any depth, sorted, from the root as it was given', async () => {
  fill('src/index.ts', 'src/deep/b.ts', 'a.ts', 'README.md');
  expect(await world.published(glob, { pattern: '**/*.ts' })).toBe('./a.ts\n./src/deep/b.ts\n./src/index.ts');
  expect(await world.published(glob, { pattern: '*.ts' })).toBe('./a.ts\n./src/deep/b.ts\n./src/index.ts');
  expect(await world.published(glob, { pattern: 'src/*.ts' })).toBe('./src/index.ts');
  expect(await world.published(glob, { pattern: './src/**' })).toBe('./src/deep/b.ts\n./src/index.ts');
  expect(await world.published(glob, { pattern: '*.ts', paths: 'src' })).toBe('src/deep/b.ts\nsrc/index.ts');
  expect(await world.published(glob, { pattern: '*.ts', paths: [world.path('src/deep')] })).toBe(
    world.path('src/deep/b.ts'),
  );
});

test('nothing found is an answer', async () => {
  expect(await world.published(glob, { pattern: '*.rs' })).toBe('No files matched the pattern.');
});

test('ignored and hidden files are left out, hidden ones not when they are named', async () => {
  fill('kept.log', 'node_modules/x/index.js', '.github/ci.yml', '.env', 'src/a.js');
  execFileSync('git', ['init', '-q'], { cwd: world.path() });
  writeFileSync(world.path('.gitignore'), 'node_modules\n*.log\n');
  expect(await world.published(glob, { pattern: '**/*' })).toBe('./src/a.js');
  expect(await world.published(glob, { pattern: '*.{js,log}' })).toBe('./src/a.js');
  expect(await world.published(glob, { pattern: '.github/**' })).toBe('./.github/ci.yml');
  expect(await world.published(glob, { pattern: '.env' })).toBe('./.env');
});

test('a pattern that leads out of the working directory is asked for where it leads to', async () => {
  writeFileSync(world.outside('s.txt'), '');
  const { questions, result } = await world.call(glob, { pattern: `${world.outside()}/*.txt` });
  const request = {
    kind: 'read',
    intention: `Search for files matching pattern in: ${world.outside()}`,
    path: world.outside(),
  };
  expect(questions).toEqual([
    { request, prompt: { kind: 'path', accessKind: 'read', paths: [world.outside()] } },
    { request },
  ]);
  expect(result?.text).toBe(world.outside('s.txt'));
  expect((await world.call(glob, { pattern: '../outside/*' })).questions).toHaveLength(2);
});

test('a call says what it looks for', () => {
  expect(glob.intention?.({ pattern: '*.ts' })).toBe('*.ts');
});
