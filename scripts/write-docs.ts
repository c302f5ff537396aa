import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { withRooms } from './rooms-drawing.js';
import { statusPage } from './status-page.js';
import { wireOptions } from './wire-options.js';
import { wirePage } from './wire-page.js';
import { wireSchema } from './wire-schema.js';

const wire = wireSchema();
const files = {
  'packages/protocol/schema/wire.json': `${JSON.stringify(wire, null, 1)}\n`,
  'docs/wire.md': wirePage(wire),
  'docs/architecture.md': withRooms(readFileSync('docs/architecture.md', 'utf8')),
  'docs/status.md': statusPage(),
  'packages/sdk/src/wire-options.ts': wireOptions(),
};

mkdirSync('packages/protocol/schema', { recursive: true });
for (const [path, text] of Object.entries(files)) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue;
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text);
    continue;
  }
  console.error(`${path} is not what the code says: run \`npm run docs\` and keep the result.`);
  process.exitCode = 1;
}
