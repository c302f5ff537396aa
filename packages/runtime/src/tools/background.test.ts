import { expect, test, vi } from 'vitest';
import { ToolWorld } from '../../test/tool-world.js';
import { bashTool } from './bash.js';
import { listBashTool } from './list-bash.js';
import { readBashTool } from './read-bash.js';
import { runCommand } from './shell/run-command.js';
import { stopBashTool } from './stop-bash.js';

const world = ToolWorld.forEachTest();

const start = (command: string, more: object = {}) =>
  world.published(bashTool(), { command, description: 'test', mode: 'async', ...more });
const read = (shellId: string, delay = 10) => world.published(readBashTool(), { shellId, delay });
const stop = (shellId: string) => world.published(stopBashTool(), { shellId });
const list = async () =>
  (await world.published(listBashTool(), {}))
    .replace(/pid: \d+/g, 'pid: P')
    .replace(/elapsed: \d+s/g, 'elapsed: Es');

test('a command in the background is read to its end, once', async () => {
  expect(await start('echo bg', { shellId: 'sh1' })).toBe(
    '<command started in background with shellId: sh1>',
  );
  expect(await read('sh1')).toBe('bg\n<shellId: sh1 completed with exit code 0>');
  expect(await read('sh1')).toBe(
    'shellId: sh1 was reclaimed and is no longer available.\n\n<no active shell sessions>',
  );
});

test('an unknown id is refused with the ids there are', async () => {
  expect(await read('nope')).toBe(
    'shellId: nope not found or was never created. Please supply a valid shell ID.\n\n<no active shell sessions>',
  );
});

test('each reading gives what is new', async () => {
  const command = 'echo one; until [ -e go ]; do sleep 0.01; done; echo two; exit 5';
  expect(await start(command)).toBe('<command started in background with shellId: 0>');
  await vi.waitFor(async () => expect(await list()).toContain('unread output: yes'));
  expect(await read('0', 0)).toBe('one\n<shellId: 0 is still running>');
  expect(await list()).toBe(
    `Active shell sessions:\n  shellId: 0, pid: P, mode: async, status: running, elapsed: Es, commands: 1, unread output: no\n    current command: ${command}`,
  );
  await world.published(bashTool(), { command: 'touch go', description: 'test' });
  await vi.waitFor(async () => expect(await list()).toContain('status: completed (exit code: 5)'));
  expect(await read('0')).toBe('two\n<shellId: 0 completed with exit code 5>');
});

test('stopping always succeeds and ends what runs', async () => {
  await start('sleep 1000', { shellId: 'sh2' });
  expect(await stop('sh2')).toBe('<command with id: sh2 stopped>');
  expect(await stop('unknown')).toBe('<command with id: unknown stopped>');
  expect(await list()).toBe('<no active shell sessions>');
});

test('of commands that are started side by side under one id, one runs', async () => {
  const published = await Promise.all([1, 2, 3].map(() => start('sleep 1000', { shellId: 'same' })));
  expect(published.filter((text) => text.startsWith('<command started'))).toHaveLength(1);
  expect(published.filter((text) => text.includes('is in use'))).toHaveLength(2);
});

test('a number that a caller took as a name is given to no other command', async () => {
  await start('sleep 1000', { shellId: '0' });
  expect(await start('sleep 1000')).toBe('<command started in background with shellId: 1>');
});

test('an id in use is not given twice', async () => {
  await start('sleep 1000', { shellId: 'sh3' });
  expect(await start('echo again', { shellId: 'sh3' })).toBe(
    'shellId: sh3 is in use by a command that is still running. Choose another one, or stop it first.',
  );
});

test('a detached command is read like any other, and stopped by its id', async () => {
  const text = '<command started in detached background with shellId: sh4>';
  expect(await start('echo out; echo err >&2', { shellId: 'sh4', detach: true })).toBe(text);
  expect(await read('sh4')).toBe('out\nerr\n<shellId: sh4 completed with exit code 0>');
  await start('sleep 1000', { shellId: 'sh5', detach: true });
  expect(await stop('sh5')).toBe('<command with id: sh5 stopped>');
});

test('a command that takes longer than the wait goes on in the background', async () => {
  const order = {
    description: 'test',
    command: 'echo first; until [ -e go ]; do sleep 0.01; done; echo last',
    seconds: 0.2,
  };
  const { text, suffix } = await runCommand(order, world.context(), new AbortController().signal);
  expect(`${text}${suffix}`).toBe(
    'first\n<command with shellId: 0 is still running after 0.2 seconds and goes on in the background. Use read_bash to read more of its output, stop_bash to stop it.>',
  );
  await world.published(bashTool(), { command: 'touch go', description: 'test' });
  expect(await read('0')).toBe('last\n<shellId: 0 completed with exit code 0>');
});

test('a character is not torn between two readings', async () => {
  const command = "printf 'a\\303'; until [ -e go ]; do sleep 0.01; done; printf '\\274b'";
  await start(command, { shellId: 'sh6' });
  await vi.waitFor(async () => expect(await list()).toContain('unread output: yes'));
  expect(await read('sh6', 0)).toBe('a\n<shellId: sh6 is still running>');
  await world.published(bashTool(), { command: 'touch go', description: 'test' });
  expect(await read('sh6')).toBe('üb\n<shellId: sh6 completed with exit code 0>');
});
