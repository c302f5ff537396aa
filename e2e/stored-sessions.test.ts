import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '@groundcrew/store-sqlite';
import {
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  say,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test, vi } from 'vitest';
import { codeWord, multiplySession } from '../bench/sessions/many-sessions.js';

const runtime = liveRuntime({ flags: ['--port', '0'] });

const seen = (model: ScriptedModel) =>
  (model.requests.at(-1)?.body.messages ?? [])
    .slice(1)
    .map(({ role, content }) => `${role} ${String(content).replace(/^<current_datetime>.*\n\n/, '')}`);
const idsOf = (session: WireSession) =>
  session.stored().then((events) => events.map(({ id, parentId }) => ({ id, parentId })));
const directoryOf = (sessionId: string) => join(runtime.home.path, 'session-state', sessionId);
const listed = async (client: WireClient, params: object = {}) =>
  (await client.call<{ sessions: { sessionId: string }[] }>('sessions.list', params)).sessions;

describe('a fork', () => {
  test('shares what was said with its source, and keeps it when the source is deleted', async () => {
    const { client } = runtime;
    const { session, model } = await runtime.session([say('one'), say('two'), say('on the fork')]);
    await session.turn(`First ${'long words '.repeat(40_000)}`);
    await session.turn(`Second ${'more words '.repeat(2_000)}`);
    const { sessionId } = session;
    const before = await session.stored();
    const fork = await client.call<{ sessionId: string }>('sessions.fork', { sessionId });
    const { sizes } = await client.call<{ sizes: Record<string, number> }>('sessions.getSizes');
    const events = before.reduce((bytes, event) => bytes + JSON.stringify(event).length, 0);
    expect(sizes[sessionId]).toBeGreaterThan(events);
    // What is left is its snapshot: the conversation as the model sees it.
    expect((sizes[sessionId] ?? 0) - (sizes[fork.sessionId] ?? 0)).toBeGreaterThan(events * 0.9);
    await client.call('session.delete', { sessionId });
    const resumed = await client.resume(fork.sessionId, providerOf(model));
    expect((await resumed.stored()).slice(1, before.length)).toEqual(before.slice(1));
    expect(await resumed.turn('And on?')).toBeDefined();
  });

  test('has the past up to an event, under the same ids, and goes its own way', async () => {
    const { client } = runtime;
    const { session, model } = await runtime.session([
      say('one'),
      say('two'),
      say('on the fork'),
      say('here'),
    ]);
    await session.call('session.permissions.setMode', { mode: 'allow-all' });
    await session.turn('First');
    await session.call('session.plan.update', { content: '1. Fork' });
    await session.call('session.workspaces.createFile', { path: 'a/b.txt', content: 'kept' });
    const before = await session.stored();
    await session.turn('Second');
    const second = (await session.stored()).slice(before.length).find(({ type }) => type === 'user.message');
    const made = await client.call<{ sessionId: string; name: string }>('sessions.fork', {
      sessionId: session.sessionId,
      toEventId: second?.id,
      name: 'Another way',
    });
    expect(made).toEqual({ sessionId: expect.any(String), name: 'Another way' });
    const fork = await client.resume(made.sessionId, providerOf(model));
    const events = await fork.stored();
    expect(events.slice(1, before.length)).toEqual(before.slice(1));
    expect(events[0]).toEqual({
      ...before[0],
      data: { ...(before[0]?.data as object), sessionId: made.sessionId },
    });
    expect(events[before.length]).toMatchObject({
      type: 'session.info',
      parentId: before.at(-1)?.id,
      data: {
        infoType: 'session_forked',
        message: `Forked from session ${session.sessionId} before its event ${second?.id}`,
      },
    });
    await fork.turn('Third');
    expect(seen(model)).toEqual(['user First', 'assistant one', 'user Third']);
    await session.turn('Fourth');
    expect(seen(model)).toEqual([
      'user First',
      'assistant one',
      'user Second',
      'assistant two',
      'user Fourth',
    ]);
    expect(readFileSync(join(directoryOf(made.sessionId), 'files/a/b.txt'), 'utf8')).toBe('kept');
    expect(await fork.call('session.plan.read')).toMatchObject({ content: '1. Fork' });
    expect(await fork.call('session.permissions.getMode')).toMatchObject({ mode: 'manual' });
    expect(await fork.call('session.name.get')).toEqual({ name: 'Another way' });
    await client.call('session.delete', { sessionId: session.sessionId });
    expect((await idsOf(fork)).length).toBeGreaterThan(before.length);
  });

  test('of a session at work has nothing of what is open, and none of what was cut off', async () => {
    const look = callTools({ id: 'l1', name: 'look', arguments: {} });
    const { session, model } = await runtime.session(
      [say('one'), say('gone'), look, say('on the fork'), say('end')],
      {
        tools: [{ name: 'look', skipPermission: true }],
      },
    );
    await session.turn('First');
    await session.turn('Cut off');
    const { points } = await session.call<{ points: { eventId: string }[] }>(
      'session.history.listRewindPoints',
    );
    await session.call('session.history.truncate', { eventId: points[1]?.eventId });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    const made = await runtime.client.call<{ sessionId: string; name: string }>('sessions.fork', {
      sessionId: session.sessionId,
    });
    expect(made.name).toBe('First (fork)');
    const fork = await runtime.client.resume(made.sessionId, providerOf(model));
    expect(await fork.call('session.metadata.activity')).toMatchObject({ hasActiveWork: false });
    await fork.turn('And now?');
    expect(seen(model)).toEqual([
      'user First',
      'assistant one',
      'user Look',
      expect.stringMatching(/^assistant /),
      'tool The execution of this tool, or a previous tool was interrupted.',
      'user And now?',
    ]);
    expect(JSON.stringify(await fork.stored())).not.toContain('Cut off');
    await session.answerTool(data.requestId, { result: 'seen' });
    await session.next('session.idle');
  });

  test('of nothing, or at an event that is not there, is refused', async () => {
    const { session } = await runtime.session([say('one')]);
    await session.turn('First');
    const failed = 'Request sessions.fork failed with message:';
    expect(await session.failure('sessions.fork', { toEventId: 'nope' })).toMatchObject({
      message: `${failed} Event nope not found in session ${session.sessionId}`,
    });
    expect(await runtime.client.failure('sessions.fork', { sessionId: 'nobody' })).toMatchObject({
      message: `${failed} Cannot fork session nobody: no persisted or in-memory events found`,
    });
  });
});

describe('stored sessions', () => {
  test('are listed, found, measured and deleted', async () => {
    const { client } = runtime;
    const { session } = await runtime.session([say('one')]);
    const { sessionId } = session;
    await session.turn('Measure me');
    const before = await client.call<{ sizes: Record<string, number> }>('sessions.getSizes');
    await session.call('session.workspaces.createFile', { path: 'a.txt', content: 'x'.repeat(10_000) });
    const after = await client.call<{ sizes: Record<string, number> }>('sessions.getSizes');
    const grown = (after.sizes[sessionId] ?? 0) - (before.sizes[sessionId] ?? 0);
    expect(grown).toBeGreaterThan(10_000);
    expect(grown).toBeLessThan(12_000);
    expect(await client.call('sessions.findByPrefix', { prefix: sessionId.slice(0, 8) })).toEqual({
      sessionId,
    });
    expect(await client.call('sessions.findByPrefix', { prefix: sessionId.slice(0, 3) })).toEqual({});
    expect((await listed(client))[0]).toMatchObject({
      sessionId,
      name: 'Measure me',
      context: { cwd: runtime.workingDirectory },
    });
    expect((await listed(client, { metadataLimit: 0 }))[0]).toEqual({
      sessionId,
      startTime: expect.any(String),
      modifiedTime: expect.any(String),
      isRemote: false,
      isDetached: false,
    });
    expect(await listed(client, { source: 'remote' })).toEqual([]);
    expect(await listed(client, { filter: { cwd: '/elsewhere' } })).toEqual([]);
    expect(await client.call('sessions.getLastForContext', { context: { cwd: '/elsewhere' } })).toEqual({
      sessionId,
    });
    const row = { sessionId, startTime: 'a', modifiedTime: 'b', isRemote: false };
    expect(await client.call('sessions.enrichMetadata', { sessions: [row] })).toEqual({
      sessions: [expect.objectContaining({ ...row, name: 'Measure me', isDetached: false })],
    });
    const { freedBytes } = await client.call<{ freedBytes: Record<string, number> }>('sessions.bulkDelete', {
      sessionIds: [sessionId, 'nobody'],
    });
    expect(freedBytes).toEqual({ [sessionId]: expect.any(Number), nobody: 0 });
    expect(freedBytes[sessionId]).toBeGreaterThan(10_000);
    expect((await listed(client)).map((each) => each.sessionId)).not.toContain(sessionId);
    expect(existsSync(directoryOf(sessionId))).toBe(false);
  });

  test('that are old go with a prune: not those that are named, open or excepted; a dry run deletes nothing', async () => {
    const { client } = runtime;
    const names = ['plain', 'named', 'open', 'excepted'];
    const sessions = await Promise.all(names.map(async () => (await runtime.session([say('ok')])).session));
    for (const session of sessions) await session.turn('Hello');
    const [plain = '', named = '', open = '', excepted = ''] = sessions.map(({ sessionId }) => sessionId);
    await sessions[1]?.call('session.name.set', { name: 'Mine' });
    for (const sessionId of [plain, named, excepted]) await client.call('sessions.close', { sessionId });
    const request = { olderThanDays: 0, excludeSessionIds: [excepted] };
    type Pruned = { deleted: string[]; candidates: string[]; skipped: string[]; freedBytes: number };
    const dry = await client.call<Pruned>('sessions.pruneOld', { ...request, dryRun: true });
    expect(dry).toMatchObject({ deleted: [], dryRun: true });
    expect(dry.candidates).toContain(plain);
    expect(dry.skipped).toEqual(expect.arrayContaining([named, open]));
    expect([...dry.candidates, ...dry.skipped]).not.toContain(excepted);
    for (const olderThanDays of [1, 1e12])
      expect(await client.call('sessions.pruneOld', { ...request, olderThanDays })).toMatchObject({
        deleted: [],
      });
    const done = await client.call<Pruned>('sessions.pruneOld', request);
    expect(done).toMatchObject({ candidates: [], freedBytes: dry.freedBytes });
    expect(done.deleted.sort()).toEqual(dry.candidates.sort());
    const left = (await listed(client)).map(({ sessionId }) => sessionId);
    expect(left).toEqual(expect.arrayContaining([named, open, excepted]));
    expect(left).not.toContain(plain);
  });

  test('that another process has open are in use, and free when it gives them up', async () => {
    const model = runtime.script(say('one'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const other = await runtime.connect(process);
    const session = await other.create(providerOf(model));
    await session.turn('Mine');
    const ids = { sessionIds: [session.sessionId, 'nobody'] };
    expect(await runtime.client.call('sessions.checkInUse', ids)).toEqual({ inUse: [session.sessionId] });
    expect(await other.call('sessions.checkInUse', ids)).toEqual({ inUse: [] });
    expect(await session.call('sessions.save')).toEqual({});
    expect(await session.call('sessions.releaseLock')).toEqual({});
    expect(await runtime.client.call('sessions.checkInUse', ids)).toEqual({ inUse: [] });
    expect(await session.call('session.name.get')).toEqual({ name: 'Mine' });
  });

  test('are opened by one method: new ones, known ones, the last one, and those that are open', async () => {
    const { client } = runtime;
    const model = runtime.script(say('one'));
    const options = { ...providerOf(model), workingDirectory: runtime.workingDirectory };
    const made = await client.call<{ sessionId: string }>('sessions.open', { kind: 'create', options });
    expect(made).toEqual({ status: 'created', sessionId: expect.any(String), startupPrompts: [] });
    const { sessionId } = made;
    await client.call('session.send', { sessionId, prompt: 'Hello' });
    await client.until(() => client.events(sessionId).find(({ type }) => type === 'session.idle'), 'idle');
    const found = { status: 'resumed', sessionId, startupPrompts: [] };
    expect(await client.call('sessions.open', { kind: 'attach', sessionId })).toEqual(found);
    expect(await client.call('sessions.close', { sessionId })).toEqual({});
    expect(await client.call('sessions.close', { sessionId })).toEqual({});
    expect(await client.call('sessions.open', { kind: 'attach', sessionId })).toEqual({
      status: 'not_found',
    });
    expect(await client.call('sessions.open', { kind: 'resume', sessionId, options })).toEqual(found);
    expect(await client.call('sessions.open', { kind: 'resumeLast', options })).toEqual(found);
    expect(await client.call('sessions.open', { kind: 'resume', sessionId: 'nobody' })).toEqual({
      status: 'not_found',
    });
    expect(await client.failure('sessions.open', { kind: 'remote' })).toMatchObject({
      message:
        "Request sessions.open failed with message: Sessions cannot be opened as 'remote' here: this runtime knows local sessions only",
    });
  });
});

describe('a search', () => {
  interface Found {
    readonly sessionId: string;
    readonly name: string;
    readonly passage: string;
  }
  const search = async (query: string, more: object = {}) =>
    (await runtime.client.call<{ sessions: Found[] }>('sessions.search', { query, ...more })).sessions;

  test('finds sessions by what was said, called and answered, and by their names', async () => {
    const { session, model } = await runtime.session(
      [callTools({ id: 'c', name: 'look', arguments: { at: 'xylophone' } }), say('A zeppelin, I think.')],
      { tools: [{ name: 'look', skipPermission: true }] },
    );
    await session.send('What flies over Quixote?');
    const { data } = await session.next('external_tool.requested');
    await session.answerTool(data.requestId, { result: 'Something round and yttrium.' });
    await session.untilIdle();
    for (const word of ['quixote', 'xylophone', 'Yttrium', 'ZEPPELIN'])
      expect((await search(word)).map(({ sessionId }) => sessionId)).toEqual([session.sessionId]);
    expect(await search('wombat')).toEqual([]);
    await session.call('session.name.set', { name: 'About the wombat' });
    model.play(say('Yes.'));
    await session.turn('And now?');
    expect(await search('wombat')).toEqual([
      expect.objectContaining({
        sessionId: session.sessionId,
        name: 'About the wombat',
        passage: 'About the wombat',
      }),
    ]);
    expect(await search('quixote', { limit: 1 })).toHaveLength(1);
  });

  test('finds nothing of what was cut off, or deleted', async () => {
    const { session } = await runtime.session([say('one'), say('two')]);
    await session.turn('Remember the narwhal');
    await session.turn('Remember the pangolin');
    const [, second] = (await session.stored()).filter(({ type }) => type === 'user.message');
    expect(await search('pangolin')).toHaveLength(1);
    await session.call('session.history.truncate', { eventId: second?.id });
    expect(await search('pangolin')).toEqual([]);
    expect(await search('narwhal')).toHaveLength(1);
    await runtime.client.call('session.delete', { sessionId: session.sessionId });
    expect(await search('narwhal')).toEqual([]);
  });

  test('in many sessions goes on after a kill where it was, beside others who write', async () => {
    const home = runtime.home.path;
    const { session } = await runtime.session([say('The SUBJECT needs sand. '.repeat(40))]);
    await session.turn('Plan the SUBJECT of CODEWORD, please.');
    await session.call('session.destroy');
    await multiplySession({ home, template: session.sessionId, count: 1500 });
    const read = () => {
      const database = openDatabase(join(home, 'groundcrew.db'), { readOnly: true });
      const row = database.prepare('SELECT count(*) AS sessions FROM searched').get();
      database.close();
      return (row as { readonly sessions: number }).sessions;
    };
    const other = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(other);
    const before = read();
    const searching = client.failure('sessions.search', { query: codeWord(1400) }).catch(() => undefined);
    await vi.waitFor(() => expect(read()).toBeGreaterThan(before), { timeout: 20_000, interval: 1 });
    await other.signal('SIGKILL');
    await searching;
    const left = read();
    const beside = await runtime.session([say('Beside it.')]);
    const [found] = await Promise.all([search(codeWord(1400)), beside.session.turn('Are you there?')]);
    expect([left > before, left < before + 1500, found.map(({ passage }) => passage)]).toEqual([
      true,
      true,
      [expect.stringContaining(codeWord(1400))],
    ]);
    expect(await search('quarry', { limit: 500 })).toHaveLength(187);
  });
});
