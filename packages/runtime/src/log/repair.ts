import type { EventData } from '@groundcrew/protocol';
import type { CutSession, LogRecord, RepairedSession } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import { entryOf, noteJson } from './entry.js';
import { reduce } from './fold.js';
import { headOf } from './head.js';
import type { NoteDraft } from './notes.js';
import { initialState, rootAgentId, type SessionState } from './state.js';

/**
 * Ends a log that damage has cut short, so that the session can go on from there. Open work is closed: nothing says how
 * much of it was done in what is lost, and nothing may be done twice. A `session.warning` says what happened.
 * Undefined when neither the store nor the log says which session it was.
 */
export function repairSession(
  { records, lost, ...known }: CutSession,
  clock: Clock,
): RepairedSession | undefined {
  let state = initialState;
  let { sessionId } = known;
  for (const record of records) {
    const entry = entryOf(record);
    state = reduce(state, entry);
    if ('event' in entry && entry.event.type === 'session.start') sessionId ??= entry.event.data.sessionId;
  }
  if (sessionId === undefined) return undefined;
  if (lost === 0) return { sessionId, records: [], head: headOf(state) };
  const end = new LogEnd(state, clock);
  for (const { messageId } of state.inbox) end.note({ note: 'prompt.withdrawn', data: { messageId } });
  for (const [id, agent] of Object.entries(state.agents)) {
    const owner = id === rootAgentId ? {} : { agentId: id };
    for (const { toolCallId } of agent.calls)
      end.note({ note: 'call.interrupted', data: { toolCallId }, ...owner });
    if (agent.awaited !== undefined) end.note({ note: 'stop.decided', data: {}, ...owner });
    if (agent.turn) end.event('assistant.turn_end', { turnId: agent.turn.turnId }, owner);
  }
  end.event('session.warning', { warningType: 'store_recovered', message: warning(lost) });
  return { sessionId, records: end.records, head: headOf(end.state) };
}

function warning(lost: number | undefined): string {
  const what = lost === undefined ? 'what came after this' : `the ${lost} records after this`;
  return `The session store was damaged: ${what} could not be read, and the session goes on from here. The damaged file was kept.`;
}

/** Records to be appended, folded as they come. */
class LogEnd {
  readonly records: LogRecord[] = [];

  constructor(
    public state: SessionState,
    private readonly clock: Clock,
  ) {}

  note(draft: NoteDraft): void {
    this.add({ isPublic: false, type: draft.note, json: noteJson(draft) });
  }

  event<K extends 'assistant.turn_end' | 'session.warning'>(
    type: K,
    data: EventData<K>,
    owner: { readonly agentId?: string } = {},
  ): void {
    const { clock, state } = this;
    const event = {
      type,
      data,
      id: clock.newId(),
      timestamp: clock.timestamp(),
      parentId: state.lastEventId,
      ...owner,
    };
    this.add({ isPublic: true, type, json: JSON.stringify(event) });
  }

  private add(draft: Omit<LogRecord, 'seq'>): void {
    const record = { seq: this.state.seq + 1, ...draft };
    this.records.push(record);
    this.state = reduce(this.state, entryOf(record));
  }
}
