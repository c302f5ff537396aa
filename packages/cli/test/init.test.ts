import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();
const repository = join(import.meta.dirname, '../../..');

test('a starter app passes its own types and tests, and answers without a key', {
  timeout: 60_000,
}, async () => {
  const folder = join(world.home.path, 'My Agent');
  const made = await world.run(['init', folder]);
  expect([made.code, made.stderr]).toEqual([0, '']);
  expect(made.stdout).toMatch(
    /^Wrote package\.json, tsconfig\.json, src\/agent\.ts, .*\nNext: cd .* && npm install && /,
  );
  // The line can be run as it stands.
  expect(made.stdout).toMatch(/\nNext: cd '[^']*\/My Agent' && npm install && npm test && npm start\n$/);
  expect(JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).name).toBe('my-agent');
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
  const npm = async (...words: readonly string[]) => {
    const env = { PATH: process.env.PATH, HOME: world.home.path, GROUNDCREW_HOME: world.homePath };
    return (await promisify(execFile)('npm', words, { cwd: folder, env })).stdout;
  };
  await npm('run', '--silent', 'check');
  expect(await npm('test', '--silent')).toMatch(/(# |ℹ )fail 0/);
  expect(await npm('start', '--silent')).toBe('order A-17 is on its way\n');
});

test('what is already there is named, and nothing is written', async () => {
  const folder = join(world.home.path, 'taken');
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{}');
  expect(await world.run(['init', folder])).toEqual({
    code: 1,
    stdout: '',
    stderr:
      'package.json: already there, so nothing was written. Name an empty directory: groundcrew init my-agent\n',
  });
  expect(readdirSync(folder)).toEqual(['package.json']);
});
