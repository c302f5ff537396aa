import type { EventOf, SessionEvent } from '@groundcrew/sdk';

/** What a tool call asked and gave, with the places of its events. */
export interface RecordedCall {
  readonly name: string;
  /** Some client ran it. */
  readonly isExternal: boolean;
  readonly questions: readonly RecordedQuestion[];
  /** Absent: it was never finished. */
  readonly end?: { readonly place: number; readonly data: EventOf<'tool.execution_complete'>['data'] };
}

/** A question for permission, and its answer if there was one. */
export interface RecordedQuestion {
  readonly asked: EventOf<'permission.requested'>['data'];
  readonly answer?: {
    readonly place: number;
    readonly result: EventOf<'permission.completed'>['data']['result'];
  };
}

/** What came of a model call; its place is that of the first event after the turn began. */
export type RecordedOutcome = { readonly place: number } & (
  | { readonly type: 'answer'; readonly data: EventOf<'assistant.message'>['data'] }
  | { readonly type: 'failure'; readonly data: EventOf<'session.error'>['data'] }
  | { readonly type: 'abort'; readonly data: EventOf<'abort'>['data'] }
  /** Another model was asked in its place. */
  | { readonly type: 'limit'; readonly data: EventOf<'session.model_change'>['data'] }
);

/** A stored session as it is played back: the events that the conversation caused, and what caused them. */
export interface Recording {
  readonly start: EventOf<'session.start'>['data'];
  /** Only these are compared; a place is an index in here. */
  readonly events: readonly SessionEvent[];
  readonly outcomes: readonly RecordedOutcome[];
  readonly calls: ReadonlyMap<string, RecordedCall>;
  /** It ends in the middle of a turn. */
  readonly endsOpen: boolean;
  /** Why the recording cannot be replayed beyond this point; absent when all of it can. */
  readonly cut?: string;
}

/** Reads the events of a session. Throws when they do not begin like one. */
export function readRecording(stored: readonly SessionEvent[]): Recording {
  const start = stored.find((event) => event.type === 'session.start');
  if (start?.type !== 'session.start') throw new Error('The session has no beginning');
  const { kept, cut } = untilUnrepeatable(stored);
  const events = kept.filter((event) => isCompared(event));
  return {
    start: start.data,
    events,
    outcomes: outcomesIn(events),
    calls: callsIn(events),
    endsOpen: cut !== undefined || isOpenAtEnd(events),
    ...(cut !== undefined && { cut }),
  };
}

/** Whether an event is part of the conversation: not of who came and went, nor of one version's own words. */
export function isCompared({ type, agentId, ephemeral }: SessionEvent): boolean {
  return comparedTypes.has(type) && agentId === undefined && !ephemeral;
}

const comparedTypes: ReadonlySet<string> = new Set([
  'user.message',
  'assistant.turn_start',
  'assistant.message',
  'assistant.turn_end',
  'tool.execution_start',
  'tool.execution_complete',
  'permission.requested',
  'permission.completed',
  'external_tool.requested',
  'external_tool.completed',
  'session.model_change',
  'session.mode_changed',
  'session.error',
  'abort',
]);

/** What needs more than models and tools to happen again. */
const unrepeatable: ReadonlySet<string> = new Set([
  'subagent.started',
  'session.compaction_start',
  'session.context_cleared',
  'tool.user_requested',
  'hook.start',
  'skill.invoked',
]);

function untilUnrepeatable(stored: readonly SessionEvent[]): {
  readonly kept: readonly SessionEvent[];
  readonly cut?: string;
} {
  let isOpen = false;
  for (const [index, { type }] of stored.entries()) {
    if (type === 'assistant.turn_start') isOpen = true;
    if (type === 'assistant.turn_end') isOpen = false;
    const why = unrepeatable.has(type) ? type : 'a process that ended in the middle of a turn';
    if (unrepeatable.has(type) || (type === 'session.resume' && isOpen))
      return { kept: stored.slice(0, index), cut: why };
  }
  return { kept: stored };
}

function isOpenAtEnd(events: readonly SessionEvent[]): boolean {
  const last = (type: SessionEvent['type']) => events.findLastIndex((event) => event.type === type);
  return Math.max(last('user.message'), last('assistant.turn_start')) > last('assistant.turn_end');
}

/** Whether the model was changed by itself, in the middle of a turn. */
export function isSwitch(event: SessionEvent): event is EventOf<'session.model_change'> {
  return event.type === 'session.model_change' && event.data.source === 'automatic';
}

/** One for each model that was asked. */
function outcomesIn(events: readonly SessionEvent[]): readonly RecordedOutcome[] {
  const outcomes: RecordedOutcome[] = [];
  let place: number | undefined;
  for (const [index, event] of events.entries()) {
    if (event.type === 'assistant.turn_start') place = index + 1;
    if (place === undefined) continue;
    if (isSwitch(event)) {
      outcomes.push({ place, type: 'limit', data: event.data });
      place = index + 1;
      continue;
    }
    if (event.type === 'assistant.message') outcomes.push({ place, type: 'answer', data: event.data });
    else if (event.type === 'session.error') outcomes.push({ place, type: 'failure', data: event.data });
    else if (event.type === 'abort') outcomes.push({ place, type: 'abort', data: event.data });
    else continue;
    place = undefined;
  }
  return outcomes;
}

function callsIn(events: readonly SessionEvent[]): ReadonlyMap<string, RecordedCall> {
  const started = events.flatMap((event) => (event.type === 'tool.execution_start' ? [event.data] : []));
  return new Map(
    started.map(({ toolCallId, toolName }) => [toolCallId, callIn(events, toolCallId, toolName)]),
  );
}

function callIn(events: readonly SessionEvent[], toolCallId: string, name: string): RecordedCall {
  const places = [...events.entries()];
  const end = places.flatMap(([place, event]) =>
    event.type === 'tool.execution_complete' && event.data.toolCallId === toolCallId
      ? [{ place, data: event.data }]
      : [],
  )[0];
  const asked = events.flatMap((event) =>
    event.type === 'permission.requested' && event.data.permissionRequest.toolCallId === toolCallId
      ? [event.data]
      : [],
  );
  const isExternal = events.some(
    (event) => event.type === 'external_tool.requested' && event.data.toolCallId === toolCallId,
  );
  return {
    name,
    isExternal: isExternal || asked.some(({ permissionRequest }) => permissionRequest.kind === 'custom-tool'),
    questions: asked.map((question) => {
      const answer = places.flatMap(([place, event]) =>
        event.type === 'permission.completed' && event.data.requestId === question.requestId
          ? [{ place, result: event.data.result }]
          : [],
      )[0];
      return { asked: question, ...(answer && { answer }) };
    }),
    ...(end && { end }),
  };
}
