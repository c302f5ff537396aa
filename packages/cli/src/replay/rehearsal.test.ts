import type { SessionEvent } from '@groundcrew/sdk';
import { expect, test, vi } from 'vitest';
import { Rehearsal, ReplayStopped } from './rehearsal.js';

const ids = ['0f8fad5b-d9cb-469f-a165-70867728950e', '7c9e6679-7425-40de-944b-e07fc1f90ae7'] as const;

function event(type: string, data: object): SessionEvent {
  const envelope = { id: ids[0], parentId: null, timestamp: '2026-01-01T00:00:00.000Z' };
  return { ...envelope, type, data } as SessionEvent; // only what is compared needs to be right
}

function rehearse(recorded: readonly SessionEvent[], replayed: readonly SessionEvent[], mayGoOn = false) {
  const onDifference = vi.fn();
  const rehearsal = new Rehearsal(recorded, { mayGoOn, directories: ['/then', '/now'], onDifference });
  for (const each of replayed) rehearsal.receive(each);
  rehearsal.end();
  const { agreed, difference } = rehearsal;
  expect(onDifference).toHaveBeenCalledTimes(difference ? 1 : 0);
  return { agreed, difference };
}

test('ids, times, sessions and directories may be others, as long as they are the same throughout', () => {
  const run = (id: string, directory: string, time: string) => [
    event('assistant.turn_start', { interactionId: id, sessionId: id, note: `${directory}/a at ${time}` }),
    event('assistant.turn_end', { interactionId: id }),
  ];
  const recorded = run(ids[0], '/then', '2026-01-01T00:00:00.000Z');
  expect(rehearse(recorded, run(ids[1], '/now', '2027-01-01T00:00:00+01:00'))).toEqual({ agreed: 2 });
  const [first] = run(ids[0], '/then', '2026-01-01T00:00:00.000Z');
  const mixed = [first as SessionEvent, event('assistant.turn_end', { interactionId: ids[1] })];
  expect(rehearse(recorded, mixed)).toEqual({
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
  expect(rehearse([a], [b]).difference).toMatchObject({ number: 1, field: 'type' });
  expect(rehearse([a], [a, b]).difference).toEqual({ number: 2, replayed: { type: 'abort', data: b.data } });
  expect(rehearse([a, b], [a]).difference).toEqual({ number: 2, recorded: { type: 'abort', data: b.data } });
  expect(rehearse([a], [a, b], true)).toEqual({ agreed: 1 });
});

test('a caller that waits for a place learns when it was reached, and when it will not be', async () => {
  const a = event('user.message', { content: 'a' });
  const rehearsal = new Rehearsal([a, a], { mayGoOn: false, directories: [], onDifference: () => undefined });
  const [reached, never] = [rehearsal.reached(1), rehearsal.reached(2)];
  rehearsal.receive(a);
  await reached;
  rehearsal.stop();
  await expect(never).rejects.toThrow(ReplayStopped);
  await expect(rehearsal.reached(2)).rejects.toThrow(ReplayStopped);
});
