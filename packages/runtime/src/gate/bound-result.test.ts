import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import type { LargeOutput } from '../tools/output.js';
import { removeSessionDirectory } from '../workspace/spilled-output.js';
import { boundResult } from './bound-result.js';

async function boundOutput(text: string, largeOutput: LargeOutput): Promise<string> {
  return (await boundResult({ type: 'success', text }, largeOutput)).text;
}

const world = ToolWorld.forEachTest();

test('a text that fits stays as it is', async () => {
  const { largeOutput } = world.context();
  const text = 'x'.repeat(20 * 1024);
  expect(await boundOutput(text, largeOutput)).toBe(text);
});

test('a longer one goes to a file that only its owner reads, and the model gets the beginning', async () => {
  const { largeOutput } = world.context();
  const text = 'ä'.repeat(20 * 1024);
  const published = await boundOutput(text, largeOutput);
  const [name = ''] = readdirSync(largeOutput.directory);
  const path = join(largeOutput.directory, name);
  expect(published).toBe(
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

test('a file in a directory of the app goes with the session, and nothing else there does', async () => {
  const { largeOutput, sessionDirectory } = world.context();
  const directory = world.outside('results');
  await boundOutput('four', { ...largeOutput, maxBytes: 3, directory });
  writeFileSync(join(directory, 'mine.txt'), 'mine');
  expect(readdirSync(directory)).toHaveLength(2);
  await removeSessionDirectory(sessionDirectory);
  expect({ kept: readdirSync(directory), session: existsSync(sessionDirectory) }).toEqual({
    kept: ['mine.txt'],
    session: false,
  });
});

test('a note of where a result is removes nothing that is no result, or bears another name', async () => {
  const { sessionDirectory } = world.context();
  const result = `1-copilot-tool-output-${'0'.repeat(32)}.txt`;
  mkdirSync(world.outside(), { recursive: true });
  mkdirSync(join(sessionDirectory, 'temp'), { recursive: true });
  for (const name of ['mine.txt', result]) writeFileSync(world.outside(name), 'mine');
  writeFileSync(join(sessionDirectory, 'temp', 'mine.txt.elsewhere'), world.outside('mine.txt'));
  writeFileSync(join(sessionDirectory, 'temp', 'other.elsewhere'), world.outside(result));
  await removeSessionDirectory(sessionDirectory);
  expect(readdirSync(world.outside()).sort()).toEqual([result, 'mine.txt']);
});

test('what stands behind a text is never cut, and a file that has the text already is named', async () => {
  const suffix = '\n<exited with exit code 0>';
  const short = { ...world.context().largeOutput, maxBytes: 3 };
  const bounded = await boundResult({ type: 'success', text: 'four', suffix }, short);
  expect(bounded.text).toMatch(/^Output too large[\s\S]*four\n<exited with exit code 0>$/);
  expect((await boundResult({ type: 'success', text: 'one', suffix }, short)).text).toBe(`one${suffix}`);
  const saved = { path: '/there/already', bytes: 2048, preview: 'fo', isPartial: false };
  const named = await boundResult({ type: 'success', text: 'four', suffix, saved }, short);
  expect(named.text).toMatch(/^Output too large to read at once \(2\.0 KB\)\. Saved to: \/there\/already\n/);
  expect((await boundResult({ type: 'success', text: 'one', suffix, saved }, short)).text).toBe(
    `one${suffix}`,
  );
  const part = { type: 'success', text: '', suffix, saved: { ...saved, isPartial: true } } as const;
  const disabled = { ...short, isEnabled: false };
  expect((await boundResult(part, disabled)).text).toMatch(/Saved to: \/there\/already\n[\s\S]*fo\n<exited/);
});
