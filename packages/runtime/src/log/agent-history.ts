import type { EventOf } from '@groundcrew/protocol';
import { sizeOf, sizeOfAll } from './history-view.js';
import { nothingPinned, type Pinned } from './pinned.js';
import type { AgentState, HistoryEntry } from './state.js';

/** Adds an entry at the end. */
export function withEntry(agent: AgentState, entry: HistoryEntry): AgentState {
  return { ...agent, history: [...agent.history, entry], historySize: agent.historySize + sizeOf(entry) };
}

/** What the model reads as if the user had said it. */
export function notice(eventId: string, text: string): HistoryEntry {
  return { role: 'user', eventId, parts: [{ type: 'text', text }], isAside: true, isNotice: true };
}

/** Adds a text before an entry; at the end when that entry is gone. */
export function insertBefore(
  agent: AgentState,
  { beforeEventId, text }: { readonly beforeEventId: string; readonly text: string },
): AgentState {
  const at = agent.history.findIndex(({ eventId }) => eventId === beforeEventId);
  const entry = notice(`${beforeEventId}/before`, text);
  const history = at < 0 ? [...agent.history, entry] : agent.history.toSpliced(at, 0, entry);
  return { ...agent, history, historySize: agent.historySize + sizeOf(entry) };
}

/** Replaces the arguments of a call in the answer that asked for it. */
export function rewriteArguments(agent: AgentState, toolCallId: string, argumentsText: string): AgentState {
  const history = agent.history.map((entry) => {
    if (entry.role !== 'assistant' || !entry.toolCalls.some(({ callId }) => callId === toolCallId))
      return entry;
    const toolCalls = entry.toolCalls.map((call) =>
      call.callId === toolCallId ? { ...call, argumentsText } : call,
    );
    return { ...entry, toolCalls };
  });
  return { ...agent, history };
}

/** The model's history is a projection: the log keeps every event. */
export function compactHistory(
  agent: AgentState,
  {
    lastEventId,
    text,
    pinned,
  }: { readonly lastEventId: string; readonly text: string; readonly pinned: Pinned },
): AgentState {
  const last = agent.history.findIndex(({ eventId }) => eventId === lastEventId);
  if (last < 0) return agent;
  const count = (agent.compaction?.count ?? 0) + 1;
  const summary: HistoryEntry = {
    role: 'user',
    eventId: `compaction/${count}`,
    parts: [{ type: 'text', text }],
    isNotice: true,
  };
  const history = [summary, ...agent.history.slice(last + 1)];
  const { view: _, ...rest } = agent;
  return { ...rest, history, historySize: sizeOfAll(history), compaction: { count, pinned } };
}

/** Results of calls that are still open find no call any more, and no model reads them. */
export function clearHistory(
  agent: AgentState,
  { id, data }: EventOf<'session.context_cleared'>,
): AgentState {
  const { view: _, compaction, ...rest } = agent;
  const { initialMessage: text } = data;
  const history: readonly HistoryEntry[] =
    text === undefined ? [] : [{ role: 'user', eventId: id, parts: [{ type: 'text', text }] }];
  return {
    ...rest,
    history,
    historySize: sizeOfAll(history),
    ...(compaction && { compaction: { ...compaction, pinned: nothingPinned } }),
  };
}

/** Takes the entry and all that follow out of the history; the same state when it has no such entry. */
export function cutHistory(agent: AgentState, fromEventId: string): AgentState {
  const end = agent.history.findIndex((entry) => entry.eventId === fromEventId);
  if (end < 0) return agent;
  const history = agent.history.slice(0, end);
  return { ...agent, history, historySize: sizeOfAll(history) };
}

/** Takes single entries out of the history. */
export function dropHistory(agent: AgentState, eventIds: readonly string[]): AgentState {
  const history = agent.history.filter(({ eventId }) => !eventIds.includes(eventId));
  return { ...agent, history, historySize: sizeOfAll(history) };
}
