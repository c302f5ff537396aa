import { type AppendRequest, memoryStore, type SessionStore } from '@groundcrew/store';
import { expect, test } from 'vitest';
import { systemClock } from '../clock.js';
import { SessionLog } from './session-log.js';
import { agentOf } from './state.js';

const owner = { runtimeId: 'r', pid: 1, host: 'here' };

/** A store that keeps account of what it is asked to append. */
function counting(appends: (readonly string[])[]): SessionStore {
  const store = memoryStore();
  return {
    claim: (request) => store.claim(request),
    append: (request: AppendRequest) => {
      appends.push(request.records.map(({ type }) => type));
      return store.append(request);
    },
    release: (request) => store.release(request),
    read: (sessionId, after) => store.read(sessionId, after),
    size: (sessionId) => store.size(sessionId),
    list: (query) => store.list(query),
    search: (request) => store.search(request),
    remove: (sessionId) => store.remove(sessionId),
    erased: () => store.erased(),
  };
}

test('the end of one round and the start of the next are one write, so that no crash finds a turn between them', async () => {
  const appends: (readonly string[])[] = [];
  const log = new SessionLog('s', {
    store: counting(appends),
    clock: systemClock(),
    publish: () => undefined,
    publishedAll: () => undefined,
  });
  await log.create(
    { owner, ready: Promise.resolve() },
    { note: 'settings.fixed', data: { clientName: 'test' } },
  );
  log.append({ type: 'assistant.turn_end', data: { turnId: '0' } });
  for (let i = 0; i < 20; i++) await Promise.resolve();
  log.append({ type: 'assistant.turn_start', data: { turnId: '1', interactionId: 'i' } });
  await log.stored();
  expect(appends).toEqual([['assistant.turn_end', 'assistant.turn_start']]);
});

test('an ephemeral event does not delay what comes after it, nor overtake what came before', async () => {
  const published: string[] = [];
  const log = new SessionLog('s', {
    store: memoryStore(),
    clock: systemClock(),
    publish: ({ type }) => published.push(type),
    publishedAll: () => undefined,
  });
  await log.create(
    { owner, ready: Promise.resolve() },
    { note: 'settings.fixed', data: { clientName: 'test' } },
  );
  log.append({ type: 'session.tools_updated', data: { model: 'm' } });
  await log.published();
  expect(published).toEqual(['session.tools_updated']);
  log.append({ type: 'assistant.turn_start', data: { turnId: '0', interactionId: 'i' } });
  await new Promise<void>((resolve) => process.nextTick(resolve));
  log.append({ type: 'session.tools_updated', data: { model: 'm' } });
  log.emit({ type: 'session.idle', data: {} });
  await log.stored();
  expect(agentOf(log.state).turn?.turnId).toBe('0');
  await log.published();
  expect(published.slice(1)).toEqual(['assistant.turn_start', 'session.tools_updated', 'session.idle']);
});

test('a session that cannot be made ready is not there, and no listener receives an event of it', async () => {
  const published: string[] = [];
  const store = memoryStore();
  const log = new SessionLog('s', {
    store,
    clock: systemClock(),
    publish: ({ type }) => published.push(type),
    publishedAll: () => undefined,
  });
  const ready = Promise.reject(new Error('no room'));
  const first = { type: 'session.tools_updated', data: { model: 'm' } } as const;
  await expect(log.create({ owner, ready }, first)).rejects.toThrow('no room');
  await new Promise((resolve) => setImmediate(resolve));
  expect({ published, stored: (await store.list({ includeEmpty: true })).items }).toEqual({
    published: [],
    stored: [],
  });
});
