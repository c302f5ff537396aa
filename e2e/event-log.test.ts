import type { AnyEvent } from '@groundcrew/protocol';
import { liveRuntime, say, type WireSession } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

interface Page {
  readonly events: readonly AnyEvent[];
  readonly cursor: string;
  readonly hasMore: boolean;
  readonly cursorStatus: string;
}

const read = (session: WireSession, params: object = {}) =>
  session.call<Page>('session.eventLog.read', params);

async function twoTurns(): Promise<WireSession> {
  const { session } = await runtime.session([say('one'), say('two')]);
  await session.turn('First');
  await session.turn('Second');
  return session;
}

test('pages from the start give every stored event once, in order', async () => {
  const session = await twoTurns();
  const read1: AnyEvent[] = [];
  let page: Page = { events: [], cursor: '0', hasMore: true, cursorStatus: 'ok' };
  while (page.hasMore) {
    page = await read(session, { cursor: page.cursor, max: 2 });
    expect(page.cursorStatus).toBe('ok');
    expect(page.events.length).toBeLessThanOrEqual(2);
    read1.push(...page.events);
  }
  expect(read1).toEqual(await session.stored());
  expect(await read(session)).toMatchObject({ events: read1, hasMore: false });
});

test('after the tail there is nothing until something happens', async () => {
  const session = await twoTurns();
  const { cursor } = await session.call<{ cursor: string }>('session.eventLog.tail');
  expect(await read(session, { cursor })).toEqual({ events: [], cursor, hasMore: false, cursorStatus: 'ok' });
  const { eventId } = await session.call<{ eventId: string }>('session.log', { message: 'noted' });
  const page = await read(session, { cursor });
  expect(page.events.map(({ id }) => id)).toEqual([eventId]);
  expect(Number.parseInt(page.cursor, 10)).toBeGreaterThan(Number.parseInt(cursor, 10));
});

test('a reader may wait for the next event, and not longer than it said', async () => {
  const session = await twoTurns();
  const { cursor } = await session.call<{ cursor: string }>('session.eventLog.tail');
  expect(await read(session, { cursor, waitMs: 1 })).toMatchObject({ events: [], cursor });
  const waiting = read(session, { cursor, waitMs: 10_000 });
  const { eventId } = await session.call<{ eventId: string }>('session.log', { message: 'noted' });
  expect((await waiting).events.map(({ id }) => id)).toEqual([eventId]);
});

test('a reader who waits for one type is not woken by another', async () => {
  const session = await twoTurns();
  const { cursor } = await session.call<{ cursor: string }>('session.eventLog.tail');
  const waiting = read(session, { cursor, types: ['session.warning'], waitMs: 10_000 });
  await session.call('session.log', { message: 'not this' });
  await session.call('session.log', { message: 'this', level: 'warning' });
  expect((await waiting).events.map(({ type }) => type)).toEqual(['session.warning']);
});

test('a reader that gives up is released', async () => {
  const session = await twoTurns();
  const { cursor } = await session.call<{ cursor: string }>('session.eventLog.tail');
  const giveUp = new AbortController();
  const params = { sessionId: session.sessionId, cursor, waitMs: 60_000 };
  const waiting = runtime.client.connection.request('session.eventLog.read', params, giveUp.signal);
  giveUp.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await runtime.client.until(
    () => runtime.client.order().find((line) => line.endsWith('session.eventLog.read')),
    'the answer to the request that was cancelled',
  );
});

test('only the types asked for are read, and the cursor passes the others', async () => {
  const session = await twoTurns();
  const page = await read(session, { types: ['user.message'] });
  expect(page.events.map(({ type }) => type)).toEqual(['user.message', 'user.message']);
  const { cursor } = await session.call<{ cursor: string }>('session.eventLog.tail');
  expect(page.cursor).toBe(cursor);
  expect((await read(session, { types: '*' })).events).toEqual(await session.stored());
});

test('backward pages give the newest events first, each page in order', async () => {
  const session = await twoTurns();
  const stored = await session.stored();
  const newest = await read(session, { direction: 'backward', max: 3 });
  expect(newest).toMatchObject({ events: stored.slice(-3), hasMore: true });
  const before = await read(session, { direction: 'backward', max: 3, cursor: newest.cursor });
  expect(before.events).toEqual(stored.slice(-6, -3));
  const rest = await read(session, { direction: 'backward', max: 1000, cursor: before.cursor });
  expect(rest).toMatchObject({ events: stored.slice(0, -6), hasMore: false });
});

test('a cursor knows the way it goes', async () => {
  const session = await twoTurns();
  const stored = await session.stored();
  const { cursor } = await read(session, { direction: 'backward', max: 3 });
  expect(await read(session, { cursor, max: 1000 })).toMatchObject({ events: stored.slice(0, -3) });
});

test('a cursor of no sense, or of a place that is not there, has expired: reading begins anew, and sizes of no sense are refused', async () => {
  const session = await twoTurns();
  const stored = await session.stored();
  expect(await read(session, { cursor: '' })).toMatchObject({ events: stored, cursorStatus: 'ok' });
  for (const cursor of ['x', '-1', '1e99', '1:', '99999'])
    expect(await read(session, { cursor })).toMatchObject({ events: stored, cursorStatus: 'expired' });
  expect(await read(session, { cursor: '<99999', max: 2 })).toMatchObject({
    events: stored.slice(-2),
    cursorStatus: 'expired',
  });
  for (const params of [
    { max: 0 },
    { max: -1 },
    { max: 1.5 },
    { waitMs: -1 },
    { types: [] },
    { direction: 'up' },
  ])
    expect(await session.failure('session.eventLog.read', params)).toMatchObject({ code: -32602 });
});

test('an interest is taken note of, and may be given up twice', async () => {
  const session = await twoTurns();
  const { handle } = await session.call<{ handle: string }>('session.eventLog.registerInterest', {
    eventType: 'mcp.oauth_required',
  });
  expect(handle).toMatch(/^interest-/);
  expect(await session.call('session.eventLog.releaseInterest', { handle })).toEqual({ success: true });
  expect(await session.call('session.eventLog.releaseInterest', { handle })).toEqual({ success: true });
});

test('the metadata of a session say what it is and how large it is', async () => {
  const session = await twoTurns();
  expect(await session.call('session.metadata.snapshot')).toMatchObject({
    sessionId: session.sessionId,
    workingDirectory: runtime.workingDirectory,
    currentMode: 'interactive',
    summary: 'First',
    selectedModel: 'scripted',
    alreadyInUse: false,
    isRemote: false,
    workspace: {
      id: session.sessionId,
      cwd: runtime.workingDirectory,
      client_name: 'sdk',
      user_named: false,
    },
  });
  expect(await session.call('session.metadata.activity')).toEqual({
    abortable: false,
    hasActiveWork: false,
    waitingOn: [],
  });
  const limits = { promptTokenLimit: 1000, outputTokenLimit: 100 };
  const { contextInfo } = await session.call<{ contextInfo: Record<string, number> }>(
    'session.metadata.contextInfo',
    limits,
  );
  const { systemTokens = 0, conversationTokens = 0, toolDefinitionsTokens = 0 } = contextInfo;
  expect(contextInfo).toMatchObject({
    modelName: 'scripted',
    totalTokens: systemTokens + conversationTokens + toolDefinitionsTokens,
    limit: 1100,
    compactionThreshold: 800,
  });
  expect(await session.call('session.metadata.recomputeContextTokens', { modelId: 'scripted' })).toEqual({
    totalTokens: systemTokens + conversationTokens,
    messagesTokenCount: conversationTokens,
    systemTokenCount: systemTokens,
  });
  const heavy = await session.call<{ messages: { role: string }[] }>(
    'session.metadata.getContextHeaviestMessages',
    { limit: 2 },
  );
  expect(heavy.messages.map(({ role }) => role)).toEqual(['user', 'user']);
  expect(await session.call('session.metadata.getContextAttribution')).toMatchObject({
    contextAttribution: { totalTokens: contextInfo.totalTokens, modelId: 'scripted' },
  });
  expect(await session.call('session.usage.getMetrics')).toMatchObject({
    totalUserRequests: 2,
    currentModel: 'scripted',
    modelMetrics: { scripted: { requests: { count: 2 }, usage: { inputTokens: 14, outputTokens: 6 } } },
  });
});

test('the working directory can be changed to one that is there', async () => {
  const { session } = await runtime.session([]);
  const path = runtime.home.path;
  expect(await session.call('session.metadata.setWorkingDirectory', { workingDirectory: '..' })).toEqual({
    workingDirectory: path,
  });
  expect((await session.next('session.context_changed')).data).toEqual({ cwd: path });
  expect(
    await session.failure('session.metadata.setWorkingDirectory', { workingDirectory: '/no/such' }),
  ).toMatchObject({
    code: -32603,
    message: expect.stringContaining('Directory does not exist or cannot be accessed: /no/such'),
  });
  const context = { cwd: path, branch: 'main', repository: 'a/b' };
  expect(await session.call('session.metadata.recordContextChange', { context })).toEqual({});
  expect((await session.next('session.context_changed')).data).toEqual(context);
});
