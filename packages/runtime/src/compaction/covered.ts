import { sizeOf } from '../log/history-view.js';
import type { HistoryEntry } from '../log/state.js';

/** How many entries, from the oldest, a summary replaces; 0 when there is nothing to gain. */
export function coveredLength(history: readonly HistoryEntry[], roomForTail: number): number {
  const end = endOfAnswered(history);
  const start = history.findLastIndex(
    (entry, index) => index < end && entry.role === 'user' && !entry.isAside,
  );
  const tail = tailStart(history, { from: start + 1, end, room: roomForTail });
  const isWorth = history.slice(0, tail).some(({ role }) => role === 'assistant');
  return isWorth ? tail : 0;
}

/** Where a call without a result begins: it and what follows stays, so that its result finds it. */
function endOfAnswered(history: readonly HistoryEntry[]): number {
  const last = history.findLastIndex(({ role }) => role === 'assistant');
  const said = history[last];
  if (said?.role !== 'assistant') return history.length;
  const results = new Set(
    history.slice(last).flatMap((entry) => (entry.role === 'tool' ? [entry.callId] : [])),
  );
  return said.toolCalls.every(({ callId }) => results.has(callId)) ? history.length : last;
}

/** The newest rounds of the turn that runs stay as they are, as far as there is room. */
function tailStart(
  history: readonly HistoryEntry[],
  { from, end, room }: { readonly from: number; readonly end: number; readonly room: number },
): number {
  let start = end;
  let size = 0;
  for (let index = end - 1; index >= from; index--) {
    const entry = history[index];
    if (!entry) break;
    size += sizeOf(entry);
    if (size > room) break;
    if (entry.role === 'assistant') start = index;
  }
  return isWholeTurn(history, from, start) ? end : start;
}

/** An answer without calls ends its turn: there is nothing that goes on from it. */
function isWholeTurn(history: readonly HistoryEntry[], from: number, start: number): boolean {
  const last = history.findLast(({ role }) => role === 'assistant');
  return start >= from && last?.role === 'assistant' && last.toolCalls.length === 0;
}
