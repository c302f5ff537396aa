import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { childrenOf, memoryOf, processesWith } from '../../../test/processes.js';

const program = fileURLToPath(new URL('../../../test/children/shell-user.ts', import.meta.url));
let directory = '';

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'guardian-test-'));
});
afterEach(() => {
  for (const pid of processesWith(directory)) process.kill(pid, 'SIGKILL');
  rmSync(directory, { recursive: true, force: true });
});

/** A process that has started these commands, with its temporary files in the directory of the test. */
async function start(
  ...commands: readonly string[]
): Promise<{ kill(): void; guardians(): readonly number[] }> {
  const child = spawn(process.execPath, ['--import', 'tsx', program, directory, ...commands], {
    env: { ...process.env, TMPDIR: directory },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  const mine = new Set(childrenOf(child.pid ?? 0));
  return {
    kill: () => child.kill('SIGKILL'),
    guardians: () => processesWith('groundcrew-guardian').filter((pid) => mine.has(pid)),
  };
}

test('nothing outlives a runtime that is killed, but for what was detached', async () => {
  const mark = `${directory}/never`;
  const user = await start(
    `touch ${directory}/a; tail -F ${mark}`,
    `trap "" TERM; touch ${directory}/b; (trap "" TERM; tail -F ${mark}) & while :; do tail -F ${mark}; done`,
    `touch ${directory}/c; timeout 1000 tail -F ${mark}`,
    `detached:touch ${directory}/d; exec tail -F ${mark}.detached`,
  );
  const names = ['a', 'b', 'c', 'd'];
  await vi.waitFor(() => expect(names.filter((name) => existsSync(join(directory, name)))).toEqual(names));
  user.kill();
  await vi.waitFor(() => expect(user.guardians()).toEqual([]), 5000);
  expect(processesWith(mark)).toEqual(processesWith(`${mark}.detached`));
  expect(processesWith(mark)).toHaveLength(1);
  expect(readdirSync(directory).filter((name) => name.startsWith('groundcrew-'))).toEqual([]);
});

test('the guardian is one small process', async () => {
  const user = await start('exec sleep 1000', 'exec sleep 1000');
  const [guardian = 0, ...others] = user.guardians();
  expect(others).toEqual([]);
  expect(memoryOf(guardian)).toBeLessThan(4096);
  user.kill();
  await vi.waitFor(() => expect(user.guardians()).toEqual([]), 5000);
});
