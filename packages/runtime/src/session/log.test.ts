import { expect, test } from 'vitest';
import { systemClock } from '../clock.js';
import { memoryStore } from '../store/memory.js';
import type { AppendRequest, SessionStore } from '../store/session-store.js';
import { SessionLog } from './log.js';

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
    list: (query) => store.list(query),
    remove: (sessionId) => store.remove(sessionId),
  };
}

test('the end of one round and the start of the next are one write, so that no crash finds a turn between them', async () => {
  const appends: (readonly string[])[] = [];
  const log = new SessionLog('s', {
    store: counting(appends),
    clock: systemClock(),
    tell: () => undefined,
    toldAll: () => undefined,
  });
  await log.create(owner, { note: 'settings.fixed', data: { clientName: 'test' } });
  log.append({ type: 'assistant.turn_end', data: { turnId: '0' } });
  for (let i = 0; i < 20; i++) await Promise.resolve();
  log.append({ type: 'assistant.turn_start', data: { turnId: '1', interactionId: 'i' } });
  await log.stored();
  expect(appends).toEqual([['assistant.turn_end', 'assistant.turn_start']]);
});
