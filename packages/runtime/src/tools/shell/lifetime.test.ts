import { randomUUID } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { childrenOf, openFiles, processesWith } from '../../../test/processes.js';
import { ToolWorld } from '../../../test/tool-world.js';
import { boundResult } from '../../gate/bound-result.js';
import { bashTool } from '../bash.js';
import { runCommand } from './run-command.js';

const world = ToolWorld.forEachTest();

/** Commands that are hard to end, each with a mark on the command line of all that it starts. */
const stubborn: readonly [string, (mark: string) => string][] = [
  ['is plain', (mark) => `touch up; sleep 1000.${mark}`],
  ['forks', (mark) => `sleep 1000.${mark} & (sleep 1000.${mark} & touch up; sleep 1000.${mark}) | cat`],
  ['ignores SIGTERM', (mark) => `trap "" TERM; touch up; while :; do sleep 1000.${mark}; done`],
  [
    'holds the pipe open',
    (mark) => `(trap "" TERM; sleep 1000.${mark}; sleep 1000.${mark}) & touch up; wait`,
  ],
  ['leaves its process group', (mark) => `touch up; timeout 1000 sleep 1000.${mark}`],
];

const newMark = () => String(Number.parseInt(randomUUID().slice(0, 8), 16));

test.each(stubborn)('an abort ends a command that %s', async (_how, command) => {
  const mark = newMark();
  const aborter = new AbortController();
  const order = { description: 'test', command: command(mark), seconds: 60 };
  const call = runCommand(order, world.context(), aborter.signal);
  await vi.waitFor(() => expect(existsSync(world.path('up'))).toBe(true));
  aborter.abort(new Error('enough'));
  await expect(call).rejects.toThrow('enough');
  expect(processesWith(`1000.${mark}`)).toEqual([]);
});

test.each(stubborn)('closing the session ends a command in the background that %s', async (_how, command) => {
  const mark = newMark();
  const input = { command: command(mark), description: 'test', mode: 'async' };
  await world.call(bashTool(), input);
  await vi.waitFor(() => expect(existsSync(world.path('up'))).toBe(true));
  await world.shells.close();
  expect(processesWith(`1000.${mark}`)).toEqual([]);
});

test('closing the session ends what a finished command had left running', async () => {
  const mark = newMark();
  const command = `sleep 1000.${mark} & timeout 1000 sleep 1000.${mark} >/dev/null 2>&1 & echo left`;
  expect(await world.published(bashTool(), { command, description: 'test' })).toContain('left');
  await vi.waitFor(() => expect(processesWith(`1000.${mark}`)).toHaveLength(3));
  await world.shells.close();
  expect(processesWith(`1000.${mark}`)).toEqual([]);
});

test('a call that was aborted before it began starts nothing', async () => {
  const order = { description: 'test', command: 'touch started', seconds: 60 };
  await expect(runCommand(order, world.context(), AbortSignal.abort(new Error('no')))).rejects.toThrow('no');
  expect(existsSync(world.path('started'))).toBe(false);
});

test('many calls leave no process, no zombie, no open file and no temporary file behind', async () => {
  const bash = bashTool();
  const directory = world.path();
  vi.stubEnv('TMPDIR', directory);
  const temporary = () => (existsSync(directory) ? readdirSync(directory) : []);
  const input = { command: 'echo $((1 + 1)) | cat', description: 'test' };
  const before = { files: openFiles().length, children: childrenOf(process.pid), temporary: temporary() };
  for (let round = 0; round < 25; round += 1) {
    const published = await Promise.all(Array.from({ length: 8 }, () => world.published(bash, input)));
    expect(new Set(published)).toEqual(new Set(['2\n<exited with exit code 0>']));
  }
  await world.shells.close();
  await world.allShells.close();
  vi.unstubAllEnvs();
  expect({ files: openFiles().length, children: childrenOf(process.pid), temporary: temporary() }).toEqual(
    before,
  );
});

test('memory stays bounded however much a command writes', async () => {
  const before = process.memoryUsage().rss;
  const order = { description: 'test', command: 'yes | head -c 300000000; echo; echo end', seconds: 60 };
  const context = world.context();
  const whole = await runCommand(order, context, new AbortController().signal);
  expect(process.memoryUsage().rss - before).toBeLessThan(120 * 1024 * 1024);
  const result = await boundResult(whole, context.largeOutput);
  expect(result.text).toMatch(/^Output too large to read at once \(292968.8 KB\). Saved to: /);
});
