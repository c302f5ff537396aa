import type { SessionEvent } from '@groundcrew/protocol';
import { expect, test } from 'vitest';
import { ReconnectGap } from './reconnect-gap.js';

const event = (id: string): SessionEvent => ({
  id,
  timestamp: '2026-01-02T03:04:05.678Z',
  parentId: null,
  type: 'session.info',
  data: { infoType: 'notification', message: id },
});
const events = (...ids: readonly string[]) => ids.map(event);

test('what was missed comes before what was heard since, each once and in order', () => {
  const gap = new ReconnectGap('b');
  expect(events('delta', 'd', 'e').map((each) => gap.passes(each))).toEqual([false, false, false]);
  const stored = events('a', 'b', 'c', 'd', 'e');
  expect(gap.close({ stored, isIdle: false })).toEqual(events('c', 'delta', 'd', 'e'));
  expect(gap.passes(event('f'))).toBe(true);
});

test('an event that was read from the log is not emitted again', () => {
  const gap = new ReconnectGap('a');
  expect(gap.close({ stored: events('a', 'b'), isIdle: false })).toEqual(events('b'));
  expect(events('b', 'c').map((each) => gap.passes(each))).toEqual([false, true]);
});

test('where nothing was heard before, all of the log was missed', () => {
  const gap = new ReconnectGap(undefined);
  gap.passes(event('c'));
  expect(gap.close({ stored: events('a', 'b', 'c'), isIdle: false })).toEqual(events('a', 'b', 'c'));
});

test('where the log lacks the last event received, only later events are emitted', () => {
  const gap = new ReconnectGap('gone');
  gap.passes(event('c'));
  expect(gap.close({ stored: events('a', 'b', 'c'), isIdle: false })).toEqual(events('c'));
});

test('that the session has become idle is emitted once, by the runtime or in its place', () => {
  const idle: SessionEvent = { ...event('i'), ephemeral: true, type: 'session.idle', data: {} };
  const unreceived = new ReconnectGap('a');
  expect(unreceived.close({ stored: events('a', 'b'), isIdle: true })).toEqual([
    event('b'),
    { ...idle, id: expect.any(String), timestamp: expect.any(String), parentId: 'b' },
  ]);
  const received = new ReconnectGap('a');
  received.passes(idle);
  expect(received.close({ stored: events('a', 'b'), isIdle: true })).toEqual([event('b'), idle]);
});
