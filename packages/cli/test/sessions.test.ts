import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { hold } from '@groundcrew/testkit';
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
  expect(list.stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    [
      'file-2',
      expect.stringMatching(/^\d+s$/),
      'idle',
      '1',
      expect.any(String),
      '$0.0000',
      'offline',
      `Write 'x' to a.txt`,
    ],
    [
      'sum-1',
      expect.stringMatching(/^\d+s$/),
      'idle',
      '1',
      expect.any(String),
      '$0.0000',
      'offline',
      'What is 1+1?',
    ],
    [''],
  ]);
  const listed = JSON.parse((await world.run(['sessions', 'ls', '--json'])).stdout) as readonly object[];
  expect(listed[1]).toEqual({
    sessionId: 'sum-1',
    startTime: expect.stringMatching(/^\d{4}-.*Z$/),
    modifiedTime: expect.stringMatching(/^\d{4}-.*Z$/),
    workingDirectory: world.workingDirectory,
    summary: 'What is 1+1?',
    clientName: 'groundcrew',
    model: 'offline',
    turns: 1,
    tokens: expect.any(Number),
    cost: 0,
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
  expect(await world.run(['sessions', 'export', 'sum-1', file])).toEqual({
    code: 1,
    stdout: '',
    stderr: `groundcrew: ${file} is there already: name a new file\n`,
  });
  expect(readdirSync(world.homePath).filter((name) => name.endsWith('.tmp'))).toEqual([]);

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

test('output without a reader ends the program in silence', async () => {
  await world.run(['-p', 'Say hello', '--session-id', 'unread']);
  const program = world.start(['sessions', 'export', 'unread']);
  program.child.stdout?.destroy();
  expect(await program.ended).toEqual({ code: 141, stdout: '', stderr: '' });
});

test('sessions are found by their words, and a home without sessions has nothing to find', async () => {
  expect(await world.run(['sessions', 'search', 'anything'])).toEqual({ code: 1, stdout: '', stderr: '' });
  await world.run(['-p', 'Say the walrus is grey', '--session-id', 'walrus-1']);
  await world.run(['-p', 'Say hello', '--session-id', 'other-1']);
  const found = await world.run(['sessions', 'search', 'WALRUS', 'grey']);
  expect(found.stdout).toMatch(/^walrus-1 .*Say the walrus is grey\n {4}.*walrus is grey.*\n$/);
  const inJson = JSON.parse((await world.run(['sessions', 'search', 'walrus', '--json'])).stdout);
  expect(inJson).toMatchObject([{ sessionId: 'walrus-1', passage: expect.stringContaining('walrus') }]);
  expect((await world.run(['sessions', 'search'])).stderr).toContain('The words to search for are missing');
});

test('a session is forked, taken back, exported as a directory and imported again', async () => {
  await world.run(['-p', 'Say one', '--session-id', 'road']);
  await world.run(['-p', 'Say two', '--resume', 'road']);
  const points = (await world.run(['sessions', 'rewind', 'road'])).stdout.trimEnd().split('\n');
  expect(points.map((line) => line.split('  ').at(-1))).toEqual(['Say one', 'Say two']);
  const second = points[1]?.split('  ')[0] ?? '';
  const fork = (
    await world.run(['sessions', 'fork', 'road', second, '--name', 'Another road'])
  ).stdout.trim();
  const forked = await world.run(['sessions', 'show', fork]);
  expect(forked.stdout).toContain('> Say one');
  expect(forked.stdout).not.toContain('> Say two');
  expect((await world.run(['sessions', 'rewind', 'road', second])).stdout).toMatch(
    /^\d+ events taken back\n$/,
  );
  const shown = await world.run(['sessions', 'show', 'road']);
  expect(shown.stdout).toContain('> Say one');
  expect(shown.stdout).not.toContain('> Say two');
  const directory = (await world.run(['sessions', 'export', 'road', '--to', 'out'])).stdout.trim();
  expect(readdirSync(directory)).toContain('events.jsonl');
  expect(await world.run(['sessions', 'import', directory])).toEqual({
    code: 1,
    stdout: '',
    stderr: 'groundcrew: There is a session road already; import it under another id\n',
  });
  const imported = await world.run(['sessions', 'import', directory, '--as', 'road-2']);
  expect(imported.stdout).toMatch(/^road-2: \d+ events\n$/);
  expect((await world.run(['-p', 'What did I ask first?', '--resume', 'road-2'])).code).toBe(0);
});

test('what an interrupted session has open stays so while one looks where it can be taken back', async () => {
  const held = hold();
  const model = world.script(held.reply);
  const environment = { GROUNDCREW_BASE_URL: model.baseUrl, GROUNDCREW_MODEL: 'm' };
  const run = world.start(['-p', 'Go far', '--session-id', 'cut-off'], { environment });
  await model.asked(1);
  run.child.kill('SIGKILL');
  await run.ended;
  held.release();
  const point = (await world.run(['sessions', 'rewind', 'cut-off'])).stdout;
  expect(point).toMatch(/^\S+ {2}.* {2}Go far\n$/);
  const [eventId = ''] = point.split('  ');
  expect(await world.run(['sessions', 'rewind', 'cut-off', eventId, '--dry-run'])).toEqual({
    code: 0,
    stdout: 'no files can be put back: the session does not track what its tools write\n',
    stderr: '',
  });
  expect((await world.run(['sessions', 'rewind', 'cut-off', 'nothing'])).stderr).toBe(
    "groundcrew: Rewind event 'nothing' is not a current root user turn\n",
  );
  expect(await world.run(['sessions', 'compact', 'cut-off'])).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(
      'was interrupted at its work, which this would close: go on with it first',
    ),
  });
  expect((await world.run(['sessions', 'ls'])).stdout).toContain('interrupted');
  expect((await world.run(['sessions', 'rewind', 'cut-off', eventId])).stdout).toMatch(/events taken back/);
});

test('a session is compacted by a command', async () => {
  await world.run(['-p', 'Say one', '--session-id', 'long']);
  await world.run(['-p', 'Say two', '--resume', 'long']);
  expect((await world.run(['sessions', 'compact', 'long'])).stdout).toMatch(
    /^A summary replaced \d+ messages: \d+ tokens fewer\n$/,
  );
});

test('old sessions are pruned by age, by number and by size; named ones stay', async () => {
  for (const id of ['old-1', 'old-2', 'old-3']) await world.run(['-p', 'Say hello', '--session-id', id]);
  expect(await world.run(['prune'])).toMatchObject({ code: 2, stdout: '' });
  expect((await world.run(['prune', '--older-than', 'soon'])).stderr).toContain(
    '--older-than needs a time such as 30d, 12h or 2w, not soon',
  );
  expect((await world.run(['prune', '--older-than', '30d', '--dry-run'])).stdout).toBe(
    '0 sessions, 0.0 MB would be removed\n',
  );
  expect((await world.run(['prune', '--keep', '1', '--dry-run'])).stdout).toMatch(
    /^old-2\nold-1\n2 sessions, \d+\.\d MB would be removed\n$/,
  );
  expect((await world.run(['prune', '--keep', '2'])).stdout).toMatch(/^old-1\n1 sessions, .* removed\n$/);
  expect((await world.run(['sessions', 'prune', '--max-size', '0MB'])).stdout).toMatch(
    /^old-3\nold-2\n2 sessions, .* removed\n$/,
  );
  expect(await world.run(['sessions', 'ls'])).toEqual({ code: 0, stdout: '', stderr: '' });
});

test('what the settings of a home do not keep goes by itself', async () => {
  for (const id of ['kept-1', 'kept-2', 'kept-3']) await world.run(['-p', 'Say hello', '--session-id', id]);
  world.configure({ retention: { keep: 2 } });
  const server = world.start(['serve', '--port', '0']);
  const ids = async () => {
    const { stdout } = await world.run(['sessions', 'ls', '--json']);
    return (JSON.parse(stdout) as readonly { readonly sessionId: string }[]).map(
      ({ sessionId }) => sessionId,
    );
  };
  await expect.poll(ids, { timeout: 20_000, interval: 500 }).toEqual(['kept-3', 'kept-2']);
  server.child.kill('SIGTERM');
  expect(await server.ended).toMatchObject({ code: 0 });
});
