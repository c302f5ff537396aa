import type { SessionEvent } from '@groundcrew/protocol';
import type { LogRecord, NewRecord, Owner, SessionStore } from '@groundcrew/store';
import { nothingSpent } from '../budget/spending.js';
import type { Clock } from '../clock.js';
import { cutAt } from '../log/cut.js';
import { noteJson } from '../log/entry.js';
import { nothingChanged } from '../log/file-change.js';
import { isRemoved } from '../log/removed-records.js';
import { replay } from '../log/replay.js';
import { agentOf, initialState, rootAgentId, type SessionState } from '../log/state.js';
import { initialPermissions } from '../permissions/settings.js';
import { writeLog } from './new-log.js';

/** Which session to fork, up to where, and what the new one is called. */
export interface ForkRequest {
  readonly from: string;
  readonly sessionId: string;
  /** The first event that the fork does not have; unless given, it has all of them. */
  readonly toEventId?: string | undefined;
  readonly name?: string | undefined;
}

/** There is no such session to fork, or no such event in it. */
class CannotFork extends Error {
  override readonly name = 'CannotFork';
}

/**
 * Makes a session of what readers see of another one up to an event, and shares its text with it where the store can.
 * Nothing of its open work, and nothing it may do, goes with it.
 */
export async function forkLog(
  { store, owner, clock }: { readonly store: SessionStore; readonly owner: Owner; readonly clock: Clock },
  { from, sessionId, toEventId, name }: ForkRequest,
): Promise<{ readonly sessionId: string; readonly name: string; readonly compactions: number }> {
  const { items } = await store.list({ sessionId: from, includeEmpty: true });
  const [source] = items;
  if (!source) throw new CannotFork(`Cannot fork session ${from}: no persisted or in-memory events found`);
  const removed = source.head.removed ?? [];
  const cut = toEventId === undefined ? undefined : await cutAt(store.read(from), toEventId, removed);
  if (toEventId !== undefined && !cut)
    throw new CannotFork(`Event ${toEventId} not found in session ${from}`);
  const { snapshotSeq } = source.head;
  const state = cut?.before ?? (await replay({ store, sessionId: from, snapshotSeq })).state;
  const end = cut?.seq ?? state.seq + 1;
  const title = name ?? `${state.fixed.name ?? state.summary ?? `Session ${from.slice(0, 8)}`} (fork)`;
  const fixed = { ...state.fixed, name: title, isNamedByUser: name !== undefined };
  async function* records(): AsyncGenerator<readonly Omit<NewRecord, 'seq'>[]> {
    yield [
      { isPublic: false, type: 'settings.fixed', json: noteJson({ note: 'settings.fixed', data: fixed }) },
    ];
    for await (const batch of store.read(from)) {
      const seen = batch.filter(({ seq, isPublic }) => isPublic && seq < end && !isRemoved(removed, seq));
      yield seen.map((record) =>
        record.type === 'session.start'
          ? renamed(record, sessionId)
          : { ...record, sameAs: { sessionId: from, seq: record.seq } },
      );
      if ((batch.at(-1)?.seq ?? 0) >= end) break;
    }
    yield [announcement(clock, { from, toEventId, parentId: state.lastEventId })];
  }
  const finish = (copied: SessionState) => stateOfCopy(copied, { ...state, fixed });
  await writeLog(store, { sessionId, owner, records, finish });
  return { sessionId, name: title, compactions: agentOf(state).compaction?.count ?? 0 };
}

function renamed(record: LogRecord, sessionId: string): LogRecord {
  const event = JSON.parse(record.json) as SessionEvent; // as we stored it
  return { ...record, json: JSON.stringify({ ...event, data: { ...event.data, sessionId } }) };
}

function announcement(
  clock: Clock,
  {
    from,
    toEventId,
    parentId,
  }: Pick<ForkRequest, 'from' | 'toEventId'> & { readonly parentId: string | null },
): Omit<LogRecord, 'seq'> {
  const where = toEventId === undefined ? '' : ` before its event ${toEventId}`;
  const event = {
    type: 'session.info',
    data: { infoType: 'session_forked', message: `Forked from session ${from}${where}` },
    id: clock.newId(),
    timestamp: clock.timestamp(),
    parentId,
  };
  return { isPublic: true, type: event.type, json: JSON.stringify(event) };
}

/** The state of a copy: the conversation of the source, without what was spent, asked, approved and begun there. */
export function stateOfCopy(copied: SessionState, source: SessionState): SessionState {
  const { turn: _, output: __, offered: ___, ...root } = agentOf(source);
  return {
    ...source,
    seq: copied.seq,
    eventCount: copied.eventCount,
    snapshotSeq: copied.seq + 1,
    lastEventId: copied.lastEventId,
    modifiedAt: copied.modifiedAt,
    promptMode: undefined,
    continuations: 0,
    isTaskComplete: false,
    inbox: [],
    isQueuePaused: false,
    receipts: {},
    requests: [],
    tasks: {},
    removed: [],
    schedules: [],
    lastScheduleId: 0,
    fileChanges: [],
    codeChanges: nothingChanged,
    approvals: [],
    permissions: { ...initialPermissions, deny: source.permissions.deny },
    spending: initialState.spending,
    agents: {
      [rootAgentId]: {
        ...root,
        calls: [],
        questions: [],
        contexts: [],
        verbatim: {},
        isCompacting: false,
        spending: nothingSpent,
      },
    },
  };
}
