import type { HistoryEntry, ViewCut } from './state.js';

/**
 * What a model sees of the history. A view that begins in the middle of a turn has that turn's prompts in front, so it always
 * begins with one; rounds are left out whole, so no call is without its result. Another model sees all of it.
 */
export function viewOf(
  history: readonly HistoryEntry[],
  cut: ViewCut | undefined,
  model: string,
): readonly HistoryEntry[] {
  return viewFrom(history, startOf(history, cut, model));
}

/** How large a shorter view may be. */
export interface Room {
  readonly cut: ViewCut | undefined;
  readonly model: string;
  readonly mostCharacters: number;
}

/** The longest view that fits, or the shortest that there is; undefined when that is the view already. */
export function shorterView(history: readonly HistoryEntry[], room: Room): ViewCut | undefined {
  const { cut, model, mostCharacters } = room;
  const start = startOf(history, cut, model);
  const length = viewFrom(history, start).length;
  let rest = sizeOfAll(history);
  let prompts = { count: 0, size: 0 };
  let shortest: ViewCut | undefined;
  for (const [index, entry] of history.entries()) {
    const size = sizeOf(entry);
    if (isPrompt(entry)) prompts = { count: 0, size: 0 };
    const isShorter = index > start && prompts.count + history.length - index < length;
    if (isShorter && (isPrompt(entry) || entry.role === 'assistant')) {
      shortest = { model, fromEventId: entry.eventId };
      if (prompts.size + rest <= mostCharacters) break;
    }
    rest -= size;
    if (entry.role === 'user') prompts = { count: prompts.count + 1, size: prompts.size + size };
  }
  return shortest;
}

/** What stands in the way when even the shortest view does not fit: the last round of the turn, or its prompt. */
export function lastUnit(history: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const start = Math.max(
    history.findLastIndex(({ role }) => role === 'assistant'),
    lastPrompt(history),
  );
  return history.slice(Math.max(0, start));
}

/** Characters of an entry, by which tokens are estimated. */
export function sizeOf(entry: HistoryEntry): number {
  switch (entry.role) {
    case 'user':
      return entry.parts.reduce((size, part) => size + (part.type === 'text' ? part.text.length : 4096), 0);
    case 'assistant':
      return entry.toolCalls.reduce(
        (size, call) => size + call.name.length + call.argumentsText.length,
        entry.text.length,
      );
    case 'tool':
      return entry.text.length;
  }
}

/** Characters of all of them. */
export function sizeOfAll(entries: readonly HistoryEntry[]): number {
  return entries.reduce((size, entry) => size + sizeOf(entry), 0);
}

function viewFrom(history: readonly HistoryEntry[], start: number): readonly HistoryEntry[] {
  if (start <= 0) return history;
  const turn = history.findLastIndex((entry, index) => index <= start && isPrompt(entry));
  const prompts = history.slice(Math.max(0, turn), start).filter(({ role }) => role === 'user');
  return [...prompts, ...history.slice(start)];
}

function startOf(history: readonly HistoryEntry[], cut: ViewCut | undefined, model: string): number {
  if (cut?.model !== model) return 0;
  return Math.max(
    0,
    history.findIndex(({ eventId }) => eventId === cut.fromEventId),
  );
}

/** Whether a message begins a turn; one that steered a running turn does not. */
function isPrompt(entry: HistoryEntry): boolean {
  return entry.role === 'user' && !entry.isAside;
}

function lastPrompt(history: readonly HistoryEntry[]): number {
  return history.findLastIndex(isPrompt);
}
