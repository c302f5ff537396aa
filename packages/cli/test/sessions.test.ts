import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { cliWorld } from './program.js';

const world = cliWorld();

const eventsIn = (lines: string) =>
  lines
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly type: string }).type);

test('a home without sessions has none, and looking leaves no trace', async () => {
  expect(await world.run(['sessions', 'ls'])).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(await world.run(['sessions', 'ls', '--json'])).toEqual({ code: 0, stdout: '[]\n', stderr: '' });
  expect(await world.run(['sessions', 'show', 'last'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'groundcrew: There is no session yet\n',
  });
  expect(readdirSync(world.homePath)).toEqual([]);
});

test('sessions are listed, shown, exported and removed', async () => {
  await world.run(['-p', 'What is 1+1?', '--session-id', 'sum-1']);
  await world.run(['-p', `Write 'x' to a.txt`, '--session-id', 'file-2']);

  const list = await world.run(['sessions', 'ls']);
  expect(list.stdout.replaceAll(/\d{4}-\d\d-\d\d \d\d:\d\d/g, 'TIME')).toBe(
    `file-2  TIME  Write 'x' to a.txt\nsum-1   TIME  What is 1+1?\n`,
  );
  const listed = JSON.parse((await world.run(['sessions', 'ls', '--json'])).stdout) as readonly object[];
  expect(listed[1]).toEqual({
    sessionId: 'sum-1',
    startTime: expect.stringMatching(/^\d{4}-.*Z$/),
    modifiedTime: expect.stringMatching(/^\d{4}-.*Z$/),
    workingDirectory: world.workingDirectory,
    summary: 'What is 1+1?',
    clientName: 'groundcrew',
  });

  const shown = await world.run(['sessions', 'show', 'file']);
  expect(shown.stdout.split('\n').slice(1)).toEqual([
    `> Write 'x' to a.txt`,
    '› create {"path":"a.txt","file_text":"x"}',
    '  failed: Permission denied and could not request permission from user',
    'The call of create was denied: Permission denied and could not request permission from user',
    '',
  ]);
  const inJson = JSON.parse((await world.run(['sessions', 'show', 'sum-1', '--json'])).stdout);
  expect(inJson).toMatchObject({ sessionId: 'sum-1', events: expect.any(Array) });

  const exported = await world.run(['sessions', 'export', 'sum-1']);
  expect(eventsIn(exported.stdout)).toEqual([
    'session.start',
    'session.model_change',
    'user.message',
    'system.message',
    'assistant.turn_start',
    'assistant.message',
    'assistant.turn_end',
    'session.shutdown',
  ]);
  expect(inJson.events).toEqual(
    exported.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  const file = join(world.homePath, 'sum.jsonl');
  expect(await world.run(['sessions', 'export', 'sum-1', file])).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(readFileSync(file, 'utf8')).toBe(exported.stdout);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(await world.run(['sessions', 'export', 'sum-1', file])).toMatchObject({ code: 1, stdout: '' });

  expect(await world.run(['sessions', 'rm', 'nobody', 'sum-1'])).toEqual({
    code: 1,
    stdout: 'sum-1\n',
    stderr: 'groundcrew: There is no session nobody\n',
  });
  expect(await world.run(['sessions', 'rm', 'file-2'])).toEqual({ code: 0, stdout: 'file-2\n', stderr: '' });
  expect(await world.run(['sessions', 'ls'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('an id that could be two is neither', async () => {
  await world.run(['-p', 'Hello', '--session-id', 'twin-a']);
  await world.run(['-p', 'Hello', '--session-id', 'twin-b']);
  expect(await world.run(['sessions', 'show', 'twin'])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'groundcrew: More than one session begins with twin, such as twin-b and twin-a\n',
  });
});

test('output that nobody reads any more ends the program without a word', async () => {
  await world.run(['-p', 'Say hello', '--session-id', 'unread']);
  const program = world.start(['sessions', 'export', 'unread']);
  program.child.stdout?.destroy();
  expect(await program.ended).toEqual({ code: 141, stdout: '', stderr: '' });
});
