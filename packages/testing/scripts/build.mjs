#!/usr/bin/env node
import { cpSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { emitTypes } from '../../../scripts/emit-types.mjs';

const packageFolder = join(import.meta.dirname, '..');
const repository = join(packageFolder, '..', '..');
const outputFolder = join(packageFolder, 'dist');
const formats = ['esm', 'cjs'];

const began = Date.now();
mkdirSync(outputFolder, { recursive: true });
const temporary = mkdtempSync(join(outputFolder, '.build-'));
try {
  const types = writeTypes();
  for (const format of formats) await writeForm(format, types);
  for (const format of formats) putInPlace(format);
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
process.stderr.write(`groundcrew: built the testing package in ${Date.now() - began} ms\n`);

// The SDK stays outside: an app's tests and this package speak of the same Client.
async function writeForm(format, types) {
  const folder = join(temporary, format);
  await build({
    absWorkingDir: repository,
    entryPoints: ['packages/testing/src/index.ts'],
    outfile: join(folder, 'index.js'),
    bundle: true,
    packages: 'external',
    format,
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'warning',
    tsconfigRaw: {},
  });
  writeFileSync(join(folder, 'package.json'), `{ "type": "${format === 'esm' ? 'module' : 'commonjs'}" }\n`);
  cpSync(types, folder, { recursive: true });
}

/** The types of this package's own files; those of the SDK are the SDK's. */
function writeTypes() {
  const outDir = join(temporary, 'types');
  emitTypes('testing', outDir);
  return join(outDir, 'testing', 'src');
}

/** Whole when it appears: no process reads half a build. */
function putInPlace(format) {
  rmSync(join(outputFolder, format), { recursive: true, force: true });
  renameSync(join(temporary, format), join(outputFolder, format));
}
