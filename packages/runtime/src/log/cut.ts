import type { SessionEvent } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';
import { entryOf } from './entry.js';
import { type FileChange, withFileChange } from './file-change.js';
import { reduce } from './fold.js';
import { isRemoved, type RemovedRange } from './removed-records.js';
import { type AgentState, agentOf, initialState, rootAgentId, type SessionState } from './state.js';

/** Where a log is cut: at the record of an event, which goes with all that follows. */
export interface Cut {
  readonly seq: number;
  readonly event: SessionEvent;
  readonly eventsRemoved: number;
  /** What the log added up to before that record. */
  readonly before: SessionState;
}

/** Finds an event that readers still see; undefined when there is none. */
export async function cutAt(
  records: AsyncIterable<readonly LogRecord[]>,
  eventId: string,
  removed: readonly RemovedRange[],
): Promise<Cut | undefined> {
  let state = initialState;
  let found: Omit<Cut, 'eventsRemoved'> | undefined;
  let eventsRemoved = 0;
  for await (const batch of records)
    for (const record of batch) {
      const isSeen = record.isPublic && !isRemoved(removed, record.seq);
      const event = !found && isSeen && record.json.includes(eventId) ? eventOf(record) : undefined;
      if (event?.id === eventId) found = { seq: record.seq, event, before: state };
      if (found && isSeen) eventsRemoved += 1;
      if (!found) state = reduce(state, entryOf(record));
    }
  return found && { ...found, eventsRemoved };
}

/**
 * What a session goes on with after its log is cut. The conversation is what it was before the event. What was spent,
 * allowed, named and chosen since stays, and no work that was open then is taken up again.
 */
export function stateAfterCut(
  now: SessionState,
  cut: Cut,
  { restoresFiles }: { readonly restoresFiles: boolean },
): SessionState {
  const { seq, before } = cut;
  const kept = Object.keys(before.tasks);
  const pick = <T>(table: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(table).filter(([id]) => kept.includes(id)));
  return {
    ...now,
    eventCount: before.eventCount,
    lastEventId: before.lastEventId,
    userTurns: before.userTurns,
    summary: before.summary,
    promptId: before.promptId,
    promptMode: undefined,
    continuations: 0,
    isTaskComplete: false,
    tasks: pick(now.tasks),
    agents: { ...pick(now.agents), [rootAgentId]: rootAfterCut(agentOf(now), agentOf(before)) },
    fileChanges: restoresFiles ? before.fileChanges : changesAfterCut(now, before),
    hasForgottenChanges: (restoresFiles ? before : now).hasForgottenChanges ?? false,
    removed: [...now.removed, [seq, now.seq]],
  };
}

/** Files stay as they are: what later turns wrote counts as written by the last one that is left. */
function changesAfterCut(now: SessionState, before: SessionState): readonly FileChange[] {
  const { promptId } = before;
  const left = new Set([promptId, ...before.fileChanges.map((change) => change.promptId)]);
  return now.fileChanges.reduce<readonly FileChange[]>((changes, change) => {
    if (left.has(change.promptId)) return withFileChange(changes, change);
    return promptId === undefined ? changes : withFileChange(changes, { ...change, promptId });
  }, []);
}

function rootAfterCut(now: AgentState, before: AgentState): AgentState {
  const { turn: _, output: __, ...conversation } = before;
  return {
    ...conversation,
    calls: [],
    questions: [],
    contexts: [],
    verbatim: {},
    isCompacting: false,
    spending: now.spending,
    ...(now.offered && { offered: now.offered }),
  };
}

function eventOf({ json }: LogRecord): SessionEvent {
  return JSON.parse(json) as SessionEvent; // as we stored it
}
