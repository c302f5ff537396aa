import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, hold, liveRuntime, providerOf, say, story, type WireSession } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const directoryOf = ({ sessionId }: WireSession) => join(runtime.home.path, 'session-state', sessionId);

describe('what clients keep with a session', () => {
  test('is set, replaced, removed and cleared, and is there after a restart', async () => {
    const model = runtime.script(say('hi'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const session = await (await runtime.connect(process)).create(providerOf(model));
    const update = (change: object) => session.call('session.metadata.updateClientMetadata', change);
    expect(await session.call('session.metadata.getClientMetadata')).toEqual({});
    expect(await update({ set: { 'app/ticket': '17', colour: 'red' } })).toEqual({
      'app/ticket': '17',
      colour: 'red',
    });
    expect(await update({ remove: ['colour', 'nothing'], set: { 'app/ticket': '18' } })).toEqual({
      'app/ticket': '18',
    });
    expect(await update({ clear: true, remove: ['a'], set: { a: '1', b: '2' } })).toEqual({ a: '1', b: '2' });
    await session.turn('Hello');
    await process.signal('SIGKILL');
    const { client } = runtime;
    const ids = [session.sessionId, 'unknown'];
    expect(await client.call('sessions.getClientMetadata', { sessionIds: ids, keys: ['b'] })).toEqual([
      { sessionId: session.sessionId, status: 'ok', metadata: { b: '2' } },
      { sessionId: 'unknown', status: 'notFound' },
    ]);
    const resumed = await client.resume(session.sessionId);
    expect(await resumed.call('session.metadata.getClientMetadata')).toEqual({ a: '1', b: '2' });
  });

  test('has room for two clients that write at the same time', async () => {
    const { session } = await runtime.session([]);
    const set = (key: string) =>
      session.call('session.metadata.updateClientMetadata', { set: { [key]: key } });
    await Promise.all(['a', 'b', 'c'].map(set));
    expect(await session.call('session.metadata.getClientMetadata')).toEqual({ a: 'a', b: 'b', c: 'c' });
  });

  test.each([
    ['a reserved name', { set: { 'github/x': '1' } }, 'reserved'],
    ['no name', { remove: [''] }, '1 to 256 bytes'],
    ['a long name', { set: { ['ü'.repeat(129)]: '1' } }, '1 to 256 bytes'],
    ['a long value', { set: { a: 'x'.repeat(16_385) } }, 'more than 16384 bytes'],
    [
      'too many',
      { set: Object.fromEntries(Array.from({ length: 129 }, (_, index) => [`k${index}`, ''])) },
      'at most 128',
    ],
  ])('is refused with %s, and nothing of it is kept', async (_what, change, reason) => {
    const { session } = await runtime.session([]);
    await expect(session.call('session.metadata.updateClientMetadata', change)).rejects.toThrow(reason);
    expect(await session.call('session.metadata.getClientMetadata')).toEqual({});
  });
});

describe('paths of the workspace', () => {
  test('are made, looked at, renamed and removed', async () => {
    const { session } = await runtime.session([]);
    const call = (name: string, params: object) => session.call(`session.workspaces.${name}`, params);
    expect(await call('createDirectory', { path: 'a/b', recursive: true })).toBeNull();
    await call('createFile', { path: 'a/b/c.txt', content: 'four' });
    expect(await call('statFile', { path: 'a/b/c.txt' })).toEqual({
      isFile: true,
      isDirectory: false,
      size: 4,
      mtimeMs: expect.any(Number),
      birthtimeMs: expect.any(Number),
    });
    expect(await call('statFile', { path: 'a' })).toMatchObject({ isFile: false, isDirectory: true });
    expect(await call('renamePath', { source: 'a/b', destination: 'z/y' })).toBeNull();
    expect(await call('listFiles', {})).toEqual({ files: ['z/y/c.txt'] });
    await expect(call('removePath', { path: 'z' })).rejects.toThrow();
    expect(await call('removePath', { path: 'z', recursive: true })).toBeNull();
    await expect(call('removePath', { path: 'z' })).rejects.toThrow('ENOENT');
    expect(await call('removePath', { path: 'z', force: true })).toBeNull();
    await expect(call('createDirectory', { path: 'p/q' })).rejects.toThrow('ENOENT');
    await call('createDirectory', { path: 'p' });
    await expect(call('createDirectory', { path: 'p' })).rejects.toThrow('EEXIST');
  });

  test.each(['../plan.md', '/etc/hosts', '', 'link/x'])('never lead elsewhere: %s', async (path) => {
    const { session } = await runtime.session([]);
    const outside = join(directoryOf(session), 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'x'), 'theirs');
    symlinkSync(outside, join(directoryOf(session), 'files', 'link'));
    await session.call('session.workspaces.createFile', { path: 'own', content: 'mine' });
    const refusal = 'must stay inside the workspace';
    for (const [name, params] of [
      ['createDirectory', { path, recursive: true }],
      ['removePath', { path, recursive: true, force: true }],
      ['statFile', { path }],
      ['renamePath', { source: path, destination: 'moved' }],
      ['renamePath', { source: 'own', destination: path }],
    ] as const)
      await expect(session.call(`session.workspaces.${name}`, params)).rejects.toThrow(refusal);
    expect(existsSync(join(outside, 'x'))).toBe(true);
  });
});

describe('stored events', () => {
  test('are read in pages both ways, whether the session is open or not', async () => {
    const { session } = await runtime.session([say('one'), say('two')]);
    await session.turn('first');
    await session.turn('second');
    const { events } = await session.call<{ events: { id: string }[] }>('session.getMessages');
    const ids = events.map(({ id }) => id);
    const client = await runtime.connect();
    const pages = async (direction: string) => {
      const found: string[][] = [];
      for (let cursor: string | undefined, isMore = true; isMore; ) {
        const page = await client.call<{ events: { id: string }[]; cursor: string; hasMore: boolean }>(
          'sessions.readPersistedEvents',
          { sessionId: session.sessionId, max: 3, direction, ...(cursor !== undefined && { cursor }) },
        );
        found.push(page.events.map(({ id }) => id));
        cursor = page.cursor;
        isMore = page.hasMore;
      }
      return found;
    };
    expect((await pages('forward')).flat()).toEqual(ids);
    expect((await pages('backward')).reverse().flat()).toEqual(ids);
    await session.call('session.destroy');
    expect((await pages('forward')).flat().slice(0, ids.length)).toEqual(ids);
    const read = (params: object) => client.call('sessions.readPersistedEvents', params);
    expect(await read({ sessionId: session.sessionId, cursor: 'of-another' })).toEqual({
      events: [],
      cursor: 'of-another',
      hasMore: false,
      cursorStatus: 'expired',
    });
    await expect(read({ sessionId: 'unknown' })).rejects.toThrow('Session not found: unknown');
    await expect(read({ sessionId: session.sessionId, max: 1001 })).rejects.toThrow('1 to 1000');
  });
});

test('a prompt that waits is taken back by its id, unless it says something else', async () => {
  const held = hold(say('one'));
  const { session, model } = await runtime.session([held.reply]);
  await session.send('first');
  await model.asked(1);
  const { messageId } = await session.call<{ messageId: string }>('session.send', {
    prompt: 'second',
    mode: 'enqueue',
  });
  expect(await session.call('session.queue.hasPending')).toEqual({ hasPending: true });
  const withdraw = (expectedPrompt: string) =>
    session.call('session.queue.withdrawMessage', { messageId, expectedPrompt });
  expect(await withdraw('other')).toEqual({ removed: false, interrupted: false });
  expect(await withdraw('second')).toEqual({ removed: true, interrupted: false });
  expect(await withdraw('second')).toEqual({ removed: false, interrupted: false });
  expect(await session.call('session.queue.hasPending')).toEqual({ hasPending: false });
  held.release();
  await session.next('session.idle');
});

test('a question about the conversation is answered from it, and leaves no trace in it', async () => {
  const { session, model } = await runtime.session([
    callTools({ id: 'c1', name: 'report_intent', arguments: { intent: 'x' } }),
    say('The word is plum.'),
    say('Plum.'),
    say('Still here.'),
  ]);
  await session.turn('Choose a word');
  const before = story(session.events);
  expect(await session.call('session.ui.ephemeralQuery', { question: 'Which word?' })).toEqual({
    answer: 'Plum.',
  });
  const asked = JSON.stringify(model.requests.at(-1)?.body);
  expect(asked).toContain('The word is plum.');
  expect(asked).toContain('Which word?');
  expect(story(session.events).filter((line) => /message/.test(line))).toEqual(
    before.filter((line) => /message/.test(line)),
  );
  await session.turn('Go on');
  expect(JSON.stringify(model.requests.at(-1)?.body)).not.toContain('Which word?');
  await expect(session.call('session.ui.ephemeralQuery', { question: ' ' })).rejects.toThrow('empty');
});

test('a machine says whether it can confine commands, and why not', async () => {
  const client = await runtime.connect();
  const support = await client.call<{ supported: boolean; reason?: string }>('sandbox.getHostSupport');
  expect(support).toEqual({
    supported: support.reason === undefined,
    capabilities: [],
    ...(support.reason !== undefined && { reason: expect.stringMatching(/\w/) }),
  });
});

test('the credentials of a session are read under the name that older clients know', async () => {
  const { session } = await runtime.session([]);
  expect(await session.call('session.auth.getStatus')).toEqual(
    await session.call('session.gitHubAuth.getStatus'),
  );
});

test('instructions are read anew when a client says so', async () => {
  const { session } = await runtime.session([]);
  writeFileSync(join(runtime.workingDirectory, 'AGENTS.md'), 'Be brief.');
  expect(await session.call('session.instructions.reload')).toBeNull();
  expect(JSON.stringify(await session.call('session.instructions.getSources'))).toContain('Be brief.');
});
