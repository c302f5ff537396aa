#!/usr/bin/env node
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { declarations } from './declarations.mjs';

const file = join(import.meta.dirname, '..', 'sdk.api.md');
const text = report();
const isCurrent = existsSync(file) && readFileSync(file, 'utf8') === text;

if (!process.argv.includes('--check')) writeFileSync(file, text);
else if (!isCurrent) {
  process.stderr.write(
    'packages/sdk/sdk.api.md is not what the SDK exports: run `npm run docs` and keep the result.\n',
  );
  process.exitCode = 1;
}

/** What apps can see of the SDK. A change of this file is a change of the API, and is read as one. */
function report() {
  const types = declarations();
  const index = types.get('index.d.ts') ?? '';
  const files = [...index.matchAll(/from '\.\/([a-z-]+)\.js'/g)].map(([, name]) => `${name}.d.ts`);
  const parts = [...new Set(files)].sort().map((path) => `## ${path}\n\n${code(types.get(path) ?? '')}`);
  const intro = 'What an app can see. Written by `npm run docs`; a change here is a change for every app.';
  return `# API of @groundcrew/sdk\n\n${intro}\n\n${code(index)}\n${parts.join('\n')}`;
}

function code(text) {
  const lines = text.split('\n').filter((line) => !/^\s+private /.test(line) && line.trim() !== 'export {};');
  return `\`\`\`ts\n${lines.join('\n').trim()}\n\`\`\`\n`;
}
