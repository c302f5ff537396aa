import type { SessionEvent } from '@groundcrew/sdk';
import { expect, test, vi } from 'vitest';
import { EventComparison, ReplayStopped } from './event-comparison.js';

const ids = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const;

function event(type: string, data: object): SessionEvent {
  const envelope = { id: ids[0], parentId: null, timestamp: '2026-01-01T00:00:00.000Z' };
  return { ...envelope, type, data } as SessionEvent; // only what is compared needs to be right
}

function compare(recorded: readonly SessionEvent[], replayed: readonly SessionEvent[], mayGoOn = false) {
  const onDifference = vi.fn();
  const comparison = new EventComparison(recorded, { mayGoOn, directories: ['/then', '/now'], onDifference });
  for (const each of replayed) comparison.receive(each);
  comparison.end();
  const { agreed, difference } = comparison;
  expect(onDifference).toHaveBeenCalledTimes(difference ? 1 : 0);
  return { agreed, difference };
}

test('ids, times, sessions and directories may be others, as long as they are the same throughout', () => {
  const run = (id: string, directory: string, time: string) => [
    event('assistant.turn_start', { interactionId: id, sessionId: id, note: `${directory}/a at ${time}` }),
    event('assistant.turn_end', { interactionId: id }),
  ];
  const recorded = run(ids[0], '/then', '2026-01-01T00:00:00.000Z');
  expect(compare(recorded, run(ids[1], '/now', '2027-01-01T00:00:00+01:00'))).toEqual({ agreed: 2 });
  const [first] = run(ids[0], '/then', '2026-01-01T00:00:00.000Z');
  const mixed = [first as SessionEvent, event('assistant.turn_end', { interactionId: ids[1] })];
  expect(compare(recorded, mixed)).toEqual({
    agreed: 1,
    difference: {
      number: 2,
      field: 'data.interactionId',
      recorded: { type: 'assistant.turn_end', data: { interactionId: '<id 1>' } },
      replayed: { type: 'assistant.turn_end', data: { interactionId: '<id 2>' } },
    },
  });
});

test('an event of another type, one too many and one too few are differences', () => {
  const [a, b] = [event('user.message', { content: 'a' }), event('abort', { reason: 'user_initiated' })];
  expect(compare([a], [b]).difference).toMatchObject({ number: 1, field: 'type' });
  expect(compare([a], [a, b]).difference).toEqual({ number: 2, replayed: { type: 'abort', data: b.data } });
  expect(compare([a, b], [a]).difference).toEqual({ number: 2, recorded: { type: 'abort', data: b.data } });
  expect(compare([a], [a, b], true)).toEqual({ agreed: 1 });
});

test('a caller that waits for a place learns when it was reached, and when it will not be', async () => {
  const a = event('user.message', { content: 'a' });
  const comparison = new EventComparison([a, a], {
    mayGoOn: false,
    directories: [],
    onDifference: () => undefined,
  });
  const [reached, never] = [comparison.reached(1), comparison.reached(2)];
  comparison.receive(a);
  await reached;
  comparison.stop();
  await expect(never).rejects.toThrow(ReplayStopped);
  await expect(comparison.reached(2)).rejects.toThrow(ReplayStopped);
});
