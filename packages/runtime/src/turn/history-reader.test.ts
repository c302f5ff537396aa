import fc from 'fast-check';
import { expect, test } from 'vitest';
import { interruptedText } from '../gate/failed-result.js';
import type { HistoryEntry } from '../log/state.js';
import { HistoryReader } from './history-reader.js';

const view = { model: 'm', canSeeImages: true, documents: [] };
let ids = 0;

const assistantEntry = (text: string): HistoryEntry => ({
  role: 'user',
  eventId: `e${++ids}`,
  parts: [{ type: 'text', text }],
});
const answered = (...callIds: readonly string[]): HistoryEntry => ({
  role: 'assistant',
  eventId: `e${++ids}`,
  text: 'Well',
  toolCalls: callIds.map((callId) => ({ callId, name: 'look', argumentsText: '{}' })),
});
const result = (callId: string): HistoryEntry => ({
  role: 'tool',
  eventId: `e${++ids}`,
  callId,
  text: `of ${callId}`,
});

test('a history that grows, is cut or is read otherwise is read as one that is new', () => {
  const step = fc.oneof(
    fc.record({ type: fc.constant('say' as const) }),
    fc.record({ type: fc.constant('answer' as const), calls: fc.nat(3), results: fc.nat(3) }),
    fc.record({ type: fc.constant('result' as const) }),
    fc.record({ type: fc.constant('cut' as const), at: fc.nat(10) }),
    fc.record({ type: fc.constant('compact' as const), at: fc.nat(10) }),
    fc.record({ type: fc.constant('model' as const), model: fc.constantFrom('m', 'n') }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const reader = new HistoryReader();
      let history: readonly HistoryEntry[] = [];
      let model = 'm';
      let open: string[] = [];
      for (const each of steps) {
        if (each.type === 'say') history = [...history, assistantEntry('Hello')];
        if (each.type === 'answer') {
          const calls = Array.from({ length: each.calls }, () => `c${++ids}`);
          open = calls.slice(each.results);
          history = [...history, answered(...calls), ...calls.slice(0, each.results).map(result)];
        }
        if (each.type === 'result') history = [...history, ...open.splice(0, 1).map(result)];
        if (each.type === 'cut') history = history.slice(0, each.at);
        if (each.type === 'compact') history = [assistantEntry('Summary'), ...history.slice(each.at)];
        if (each.type === 'model') model = each.model;
        const how = { ...view, model };
        expect(reader.read(history, how)).toEqual(new HistoryReader().read(history, how));
      }
    }),
  );
});

test('messages of the last reading are the same objects in the next, and a result that came later takes its place', () => {
  const reader = new HistoryReader();
  const history = [assistantEntry('Look'), answered('one', 'two'), result('one')];
  const first = reader.read(history, view);
  expect(first.at(-1)).toEqual({ role: 'tool', callId: 'two', text: interruptedText });
  const second = reader.read([...history, result('two'), answered()], view);
  expect(second.slice(3, 5)).toEqual([
    { role: 'tool', callId: 'two', text: 'of two' },
    { role: 'assistant', text: 'Well', toolCalls: [] },
  ]);
  for (const index of [0, 1, 2]) expect(second[index]).toBe(first[index]);
});
