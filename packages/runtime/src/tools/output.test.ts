import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { boundOutput } from './output.js';

const world = ToolWorld.forEachTest();

test('a text that fits stays as it is', async () => {
  const { largeOutput } = world.context();
  const text = 'x'.repeat(20 * 1024);
  expect(await boundOutput(text, largeOutput)).toBe(text);
});

test('a longer one goes to a file that only its owner reads, and the model gets the beginning', async () => {
  const { largeOutput } = world.context();
  const text = 'ä'.repeat(20 * 1024);
  const told = await boundOutput(text, largeOutput);
  const [name = ''] = readdirSync(largeOutput.directory);
  const path = join(largeOutput.directory, name);
  expect(told).toBe(
    `Output too large to read at once (40.0 KB). Saved to: ${path}
Consider using tools like grep (for searching), head/tail (for viewing start/end), view with view_range (for specific sections), or jq (for JSON) to examine portions of the output.

Preview (first 500 chars):
${'ä'.repeat(500)}`,
  );
  expect(name).toMatch(/^\d+-copilot-tool-output-[a-z0-9]+\.txt$/);
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('the app may set another bound, or none', async () => {
  const { largeOutput } = world.context();
  expect(await boundOutput('four', { ...largeOutput, maxBytes: 3 })).toMatch(/^Output too large/);
  expect(await boundOutput('four', { ...largeOutput, maxBytes: 3, isEnabled: false })).toBe('four');
});
