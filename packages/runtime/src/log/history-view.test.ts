import fc from 'fast-check';
import { expect, test } from 'vitest';
import { lastUnit, shorterView, sizeOfAll, viewOf } from './history-view.js';
import type { HistoryEntry, ViewCut } from './state.js';

const model = 'm';

/** `P` a prompt, `s` a word into the turn, `a` an answer, `c` an answer with a call, `r` its result. */
function historyOf(letters: string): readonly HistoryEntry[] {
  return [...letters].map((letter, index): HistoryEntry => {
    const eventId = `${letter}${index}`;
    if (letter === 'P' || letter === 's') {
      const parts = [{ type: 'text' as const, text: 'x'.repeat(10) }];
      return { role: 'user', eventId, parts, ...(letter === 's' && { isAside: true }) };
    }
    if (letter === 'r') return { role: 'tool', eventId, callId: `c${index - 1}`, text: 'x'.repeat(10) };
    const toolCalls = letter === 'c' ? [{ callId: eventId, name: 'look', argumentsText: '{}' }] : [];
    return { role: 'assistant', eventId, text: 'x'.repeat(4), toolCalls };
  });
}

const shown = (history: readonly HistoryEntry[], cut?: ViewCut) =>
  viewOf(history, cut, model).map(({ eventId }) => eventId);

test.each([
  ['turns go one after the other', 'PaPaPaP', 44, ['P2', 'a3', 'P4', 'a5', 'P6']],
  ['a long turn loses its oldest rounds and keeps its prompt', 'PcrcrcrP', 50, ['P0', 'c5', 'r6', 'P7']],
  [
    'the running turn keeps its prompt, what was said into it, and its last round',
    'PaPcrscrcr',
    1,
    ['P2', 's5', 'c8', 'r9'],
  ],
  ['the newest prompt always stays', 'PaPaP', 1, ['P4']],
])('%s', (_, letters, mostCharacters, expected) => {
  const history = historyOf(letters);
  const cut = shorterView(history, { cut: undefined, model, mostCharacters });
  expect(shown(history, cut)).toEqual(expected);
});

test('a view is one model\u2019s: another sees everything', () => {
  const history = historyOf('PaPaP');
  const cut = shorterView(history, { cut: undefined, model, mostCharacters: 1 });
  expect(viewOf(history, cut, 'other')).toBe(history);
});

test('a prompt alone cannot be made shorter, nor a prompt with one round', () => {
  for (const letters of ['P', 'Pcr', 'Pa']) {
    expect(shorterView(historyOf(letters), { cut: undefined, model, mostCharacters: 1 })).toBeUndefined();
  }
});

test.each([
  ['PaP', ['P2']],
  ['PaPcrcr', ['c5', 'r6']],
  ['PaPcrs', ['c3', 'r4', 's5']],
])('of %s, %j stands in the way', (letters, expected) => {
  expect(lastUnit(historyOf(letters)).map(({ eventId }) => eventId)).toEqual(expected);
});

const turn = fc
  .array(fc.constantFrom('cr', 'crs', 'c'), { maxLength: 6 })
  .chain((rounds) => fc.constantFrom('', 'a').map((end) => `P${rounds.join('')}${end}`));

test('cut again and again, a view begins with a prompt, ends as the history does, and has no result without its call', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), fc.nat(300), (turns, mostCharacters) => {
      const history = historyOf(turns.join(''));
      let cut: ViewCut | undefined;
      let before = viewOf(history, cut, model);
      for (;;) {
        const next = shorterView(history, { cut, model, mostCharacters });
        if (!next) break;
        const view = viewOf(history, next, model);
        expect(view.length).toBeLessThan(before.length);
        expect(view[0]).toMatchObject({ role: 'user' });
        expect(view).toContain(history.findLast((entry) => entry.role === 'user' && !entry.isAside));
        expect(view.at(-1)).toBe(history.at(-1));
        const calls = new Set(
          view.flatMap((entry) =>
            entry.role === 'assistant' ? entry.toolCalls.map(({ callId }) => callId) : [],
          ),
        );
        expect(view.filter((entry) => entry.role === 'tool' && !calls.has(entry.callId))).toEqual([]);
        if (sizeOfAll(view) <= mostCharacters) break;
        before = view;
        cut = next;
      }
    }),
    { seed: 13, numRuns: 300 },
  );
});
