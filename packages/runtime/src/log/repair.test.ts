import type { LogRecord } from '@groundcrew/store';
import { expect, test } from 'vitest';
import type { Clock } from '../clock.js';
import { repairSession } from './repair.js';

const time = '2025-01-01T00:00:00.000Z';
const clock: Clock = {
  now: () => new Date(time),
  timestamp: () => time,
  newId: () => 'new',
};

const beginning = [
  note('settings.fixed', { clientName: 'trial' }),
  event('session.start', { sessionId: 's', version: 1, producer: 'groundcrew', context: { cwd: '/work' } }),
];
const openWork = [
  note('prompt.admitted', { messageId: 'm', text: 'Hello', mode: 'enqueue' }),
  event('assistant.turn_start', { turnId: '0', interactionId: 'i' }),
  event('assistant.message', {
    content: '',
    toolRequests: [{ toolCallId: 'c', name: 'look', arguments: {} }],
  }),
  event('tool.execution_start', { toolCallId: 'c', toolName: 'look', arguments: {} }),
];

test('open work is closed, because how much of it was done is unknown, and a warning ends the log', () => {
  const repaired = repairSession({ sessionId: 's', records: log(beginning, openWork), lost: 3 }, clock);
  expect(
    repaired?.records.map(({ seq, type, isPublic, json }) => [seq, type, isPublic, JSON.parse(json)]),
  ).toEqual([
    [7, 'prompt.withdrawn', false, { messageId: 'm' }],
    [8, 'call.interrupted', false, { toolCallId: 'c' }],
    [9, 'assistant.turn_end', true, sealed('assistant.turn_end', { turnId: '0' }, 'tool.execution_start')],
    [
      10,
      'session.warning',
      true,
      sealed(
        'session.warning',
        {
          warningType: 'store_recovered',
          message:
            'The session store was damaged: the 3 records after this could not be read, and the session goes on from here. The damaged file was kept.',
        },
        'new',
      ),
    ],
  ]);
  expect(repaired).toMatchObject({
    sessionId: 's',
    head: { hasWork: false, eventCount: 6, createdAt: time },
  });
});

test('a session whose row is lost is known by its start, and its end is given as unknown', () => {
  const repaired = repairSession({ records: log(beginning) }, clock);
  expect(repaired?.sessionId).toBe('s');
  expect(JSON.parse(repaired?.records[0]?.json ?? '').data.message).toContain('what came after this');
});

test('a log that lost nothing gets a new head and nothing more', () => {
  const repaired = repairSession({ sessionId: 's', records: log(beginning, openWork), lost: 0 }, clock);
  expect(repaired).toMatchObject({
    records: [],
    head: { hasWork: true, eventCount: 4, clientName: 'trial' },
  });
});

test('a log without a start and without a name cannot be identified', () => {
  expect(repairSession({ records: log(beginning.slice(0, 1)) }, clock)).toBeUndefined();
});

function note(type: string, data: object): Omit<LogRecord, 'seq'> {
  return { isPublic: false, type, json: JSON.stringify(data) };
}

function event(type: string, data: object): Omit<LogRecord, 'seq'> {
  const json = JSON.stringify({ type, data, id: type, timestamp: time, parentId: null });
  return { isPublic: true, type, json };
}

function sealed(type: string, data: object, parentId: string) {
  return { type, data, id: 'new', timestamp: time, parentId };
}

function log(...parts: readonly (readonly Omit<LogRecord, 'seq'>[])[]): readonly LogRecord[] {
  return parts.flat().map((record, index) => ({ seq: index + 1, ...record }));
}
