import type { Part } from '@groundcrew/models';
import type { EventOf, SessionEvent } from '@groundcrew/protocol';
import { lose, reserve, settle } from '../budget/spending.js';
import type { SessionContext, SessionHead } from '../store/session-store.js';
import { sizeOf, sizeOfAll } from './history-view.js';
import type { NoteDraft } from './notes.js';
import { type HistoryEntry, initialState, type Prompt, type SessionState } from './shape.js';

/** Why a model was changed that could not be had. */
export const rateLimited = 'rate_limit_auto_switch';

/** A record of the log, opened. */
export type Entry = { readonly seq: number } & ({ readonly event: SessionEvent } | NoteDraft);

/** The state a log adds up to. Pure: replaying the log always gives the same state. */
export function reduce(state: SessionState, entry: Entry): SessionState {
  if ('note' in entry)
    return {
      ...reduceNote(state, entry),
      seq: entry.seq,
      ...(entry.note === 'snapshot' && { snapshotSeq: entry.seq }),
    };
  const { event } = entry;
  const next = reduceEvent(state, event);
  return {
    ...next,
    seq: entry.seq,
    eventCount: state.eventCount + 1,
    lastEventId: event.id,
    modifiedAt: event.timestamp,
  };
}

/** A turn runs, a question is open or a prompt waits. */
export function hasWork(state: SessionState): boolean {
  return state.turn !== undefined || state.inbox.length > 0 || state.questions.length > 0;
}

/** What the store keeps beside the log, so that lists need not read it. */
export function headOf(state: SessionState): SessionHead {
  return {
    createdAt: state.createdAt,
    modifiedAt: state.modifiedAt,
    hasWork: hasWork(state),
    userTurns: state.userTurns,
    eventCount: state.eventCount,
    snapshotSeq: state.snapshotSeq,
    context: state.context,
    ...(state.fixed.name !== undefined && { name: state.fixed.name }),
    ...(state.summary !== undefined && { summary: state.summary }),
    ...(state.fixed.clientName !== undefined && { clientName: state.fixed.clientName }),
  };
}

function reduceNote(state: SessionState, entry: NoteDraft): SessionState {
  switch (entry.note) {
    case 'ask.lost':
      return { ...state, spending: lose(state.spending, entry.data) };
    case 'ask.reserved':
      return { ...state, spending: reserve(state.spending, entry.data) };
    case 'ask.settled':
      return { ...state, spending: settle(state.spending, entry.data) };
    case 'call.intended':
      return {
        ...state,
        calls: state.calls.map((call) =>
          call.toolCallId === entry.data.toolCallId ? { ...call, attempts: entry.data.attempt } : call,
        ),
      };
    case 'call.interrupted':
      return closeCall(state, entry.data.toolCallId);
    case 'history.cut':
      return cutHistory(state, entry.data.fromEventId);
    case 'history.dropped':
      return dropHistory(state, entry.data.eventIds);
    case 'limits.asked': {
      const { requestId } = entry.data;
      const question = {
        kind: 'session_limits' as const,
        requestId,
        toolCallId: '' as const,
        event: entry.data,
      };
      return { ...state, questions: [...withoutQuestion(state, requestId).questions, question] };
    }
    case 'model.chosen':
      return { ...state, nextModel: entry.data };
    case 'permissions.changed': {
      const { approvals = state.approvals, ...change } = entry.data;
      return { ...state, approvals, permissions: { ...state.permissions, ...change } };
    }
    case 'prompt.admitted':
      return { ...withReceipt(state, entry.data), inbox: [...state.inbox, entry.data] };
    case 'prompt.received':
      return withReceipt(state, entry.data);
    case 'prompt.withdrawn':
      return withoutPrompt(state, entry.data.messageId);
    case 'question.asked': {
      const { requestId, toolCallId = '' } = entry.data;
      const question = { kind: 'user_input' as const, requestId, toolCallId, event: entry.data };
      return { ...state, questions: [...state.questions, question] };
    }
    case 'settings.fixed':
      return { ...state, fixed: { ...state.fixed, ...entry.data } };
    case 'snapshot':
      // A snapshot of an earlier version lacks what was added since.
      return { ...initialState, ...entry.data.state };
    case 'verbatim':
      return { ...state, verbatim: { ...state.verbatim, [entry.data.id]: entry.data } };
    case 'view.cut':
      return { ...state, view: entry.data };
  }
}

function reduceEvent(state: SessionState, event: SessionEvent): SessionState {
  switch (event.type) {
    case 'session.start':
      return {
        ...state,
        createdAt: event.timestamp,
        context: event.data.context ? contextOf(event.data.context) : state.context,
        limits: event.data.sessionLimits ?? {},
        ...settingsOf(event.data.selectedModel, event.data.reasoningEffort),
      };
    case 'session.resume':
      return { ...state, context: event.data.context ? contextOf(event.data.context) : state.context };
    case 'session.context_changed':
      return { ...state, context: contextOf(event.data) };
    case 'session.model_change':
      return reduceModelChange(state, event);
    case 'session.session_limits_changed':
      return {
        ...state,
        limits: event.data.sessionLimits ?? {},
        questions: state.questions.filter(({ kind }) => kind !== 'session_limits'),
      };
    case 'session.mode_changed':
      return { ...state, mode: event.data.newMode };
    case 'session.permissions_changed':
      return { ...state, permissions: { ...state.permissions, mode: event.data.mode } };
    case 'user.message':
      return reduceUserMessage(state, event);
    case 'system.message':
      return { ...state, systemPrompt: event.data.content };
    case 'system.notification':
      return say(state, notice(event.id, event.data.content));
    case 'assistant.turn_start':
      return {
        ...state,
        turn: { turnId: event.data.turnId, interactionId: event.data.interactionId ?? '', hasAnswer: false },
      };
    case 'assistant.turn_end':
      return { ...state, turn: undefined, calls: [], questions: [] };
    case 'abort':
      return { ...state, calls: [], questions: [] };
    case 'assistant.message':
    case 'tool.execution_start':
    case 'tool.execution_complete':
      return reduceToolEvent(state, event);
    case 'permission.requested':
    case 'permission.completed':
    case 'external_tool.requested':
    case 'external_tool.completed':
      return reduceQuestion(state, event);
    default:
      return state;
  }
}

function reduceModelChange(state: SessionState, { data }: EventOf<'session.model_change'>): SessionState {
  return {
    ...state,
    model: data.newModel,
    reasoningEffort: data.reasoningEffort ?? undefined,
    isModelByDefault: data.source === 'startup',
    nextModel: undefined,
    limitedModel: data.cause === rateLimited ? data.previousModel : undefined,
  };
}

function reduceUserMessage(state: SessionState, event: EventOf<'user.message'>): SessionState {
  const { messageId, content, transformedContent } = event.data;
  const verbatim = messageId === undefined ? undefined : state.verbatim[messageId];
  const text = verbatim?.text ?? transformedContent ?? content;
  const parts: Part[] = [{ type: 'text', text }, ...(verbatim?.parts ?? [])];
  const isNewTurn = event.data.delivery !== 'steering';
  const told = say(state, { role: 'user', eventId: event.id, parts, ...(!isNewTurn && { isAside: true }) });
  return {
    ...withoutPrompt(told, messageId),
    ...(isNewTurn && { turn: undefined, calls: [], questions: [] }),
    verbatim: without(state.verbatim, messageId),
    userTurns: state.userTurns + 1,
    summary: state.summary ?? content.slice(0, longestSummary),
  };
}

/** It is a part of every head, every list and every word about the session. */
const longestSummary = 1000;

type ToolEvent = EventOf<'assistant.message' | 'tool.execution_start' | 'tool.execution_complete'>;

function reduceToolEvent(state: SessionState, event: ToolEvent): SessionState {
  switch (event.type) {
    case 'assistant.message': {
      const toolCalls = (event.data.toolRequests ?? []).map((request) => ({
        callId: request.toolCallId,
        name: request.name,
        argumentsText: state.verbatim[request.toolCallId]?.text ?? JSON.stringify(request.arguments ?? {}),
      }));
      const { content, messageId, model = '' } = event.data;
      const blocks = state.verbatim[messageId]?.kept;
      const told = say(state, {
        role: 'assistant',
        eventId: event.id,
        text: content,
        toolCalls,
        ...(blocks && { kept: { model, blocks } }),
      });
      return { ...told, verbatim: {}, ...(state.turn && { turn: { ...state.turn, hasAnswer: true } }) };
    }
    case 'tool.execution_start': {
      const { toolCallId, toolName } = event.data;
      const others = state.calls.filter((call) => call.toolCallId !== toolCallId);
      const before = state.calls.find((call) => call.toolCallId === toolCallId);
      const begun = { toolCallId, toolName, arguments: event.data.arguments, attempts: 0 };
      const call = before ? { ...before, ...begun } : begun;
      return { ...state, calls: [...others, call] };
    }
    case 'tool.execution_complete': {
      if (event.data.isUserRequested) return reduceUserCommand(state, event);
      const { toolCallId, result, error } = event.data;
      const verbatim = state.verbatim[toolCallId];
      const text = verbatim?.text ?? result?.content ?? error?.message ?? '';
      const parts = verbatim?.parts;
      const told = say(state, {
        role: 'tool',
        eventId: event.id,
        callId: toolCallId,
        text,
        ...(parts && { parts }),
      });
      const isRejected = error?.code === 'rejected';
      return {
        ...closeCall(told, toolCallId),
        verbatim: without(state.verbatim, toolCallId),
        ...(isRejected && state.turn && { turn: { ...state.turn, isRejected } }),
      };
    }
  }
}

/** What people ran by themselves is no call of the model's: it reads of it as of a message. */
function reduceUserCommand(state: SessionState, event: EventOf<'tool.execution_complete'>): SessionState {
  const { toolCallId } = event.data;
  const text = state.verbatim[toolCallId]?.text;
  if (text === undefined) return state;
  return { ...say(state, notice(event.id, text)), verbatim: without(state.verbatim, toolCallId) };
}

/** What the model reads as if somebody had said it. */
function notice(eventId: string, text: string): HistoryEntry {
  return { role: 'user', eventId, parts: [{ type: 'text', text }], isAside: true };
}

type QuestionEvent = EventOf<
  'permission.requested' | 'permission.completed' | 'external_tool.requested' | 'external_tool.completed'
>;

function reduceQuestion(state: SessionState, event: QuestionEvent): SessionState {
  switch (event.type) {
    case 'permission.requested': {
      const toolCallId = event.data.permissionRequest.toolCallId ?? '';
      const question = {
        kind: 'permission' as const,
        requestId: event.data.requestId,
        toolCallId,
        event: event.data,
      };
      return { ...state, questions: [...state.questions, question] };
    }
    case 'external_tool.requested': {
      const { requestId, toolCallId } = event.data;
      return {
        ...state,
        questions: [...state.questions, { kind: 'external_tool', requestId, toolCallId, event: event.data }],
      };
    }
    case 'permission.completed': {
      const { result, requestId } = event.data;
      const approvals = 'approval' in result ? [...state.approvals, result.approval] : state.approvals;
      const calls = result.kind.startsWith('approved') ? grant(state, requestId) : state.calls;
      return { ...withoutQuestion(state, requestId), approvals, calls };
    }
    case 'external_tool.completed':
      return withoutQuestion(state, event.data.requestId);
  }
}

function grant({ questions, calls }: SessionState, requestId: string): SessionState['calls'] {
  const question = questions.find((each) => each.requestId === requestId);
  if (question?.kind !== 'permission') return calls;
  const { toolCallId, event } = question;
  return calls.map((call) =>
    call.toolCallId === toolCallId ? { ...call, granted: [...(call.granted ?? []), event] } : call,
  );
}

function say(state: SessionState, entry: HistoryEntry): SessionState {
  return { ...state, history: [...state.history, entry], historySize: state.historySize + sizeOf(entry) };
}

function closeCall(state: SessionState, toolCallId: string): SessionState {
  return {
    ...state,
    calls: state.calls.filter((call) => call.toolCallId !== toolCallId),
    questions: state.questions.filter((question) => question.toolCallId !== toolCallId),
  };
}

function cutHistory(state: SessionState, fromEventId: string): SessionState {
  const end = state.history.findIndex((entry) => entry.eventId === fromEventId);
  if (end < 0) return state;
  const history = state.history.slice(0, end);
  return { ...state, history, historySize: sizeOfAll(history) };
}

function dropHistory(state: SessionState, eventIds: readonly string[]): SessionState {
  const history = state.history.filter(({ eventId }) => !eventIds.includes(eventId));
  return { ...state, history, historySize: sizeOfAll(history) };
}

function withoutPrompt(state: SessionState, messageId: string | undefined): SessionState {
  return { ...state, inbox: state.inbox.filter((prompt) => prompt.messageId !== messageId) };
}

function withoutQuestion(state: SessionState, requestId: string): SessionState {
  return { ...state, questions: state.questions.filter((question) => question.requestId !== requestId) };
}

const mostReceipts = 256;

function withReceipt(
  state: SessionState,
  { messageId, digest }: Pick<Prompt, 'messageId' | 'digest'>,
): SessionState {
  if (digest === undefined) return state;
  const kept = Object.entries(state.receipts).slice(1 - mostReceipts);
  return { ...state, receipts: Object.fromEntries([...kept, [messageId, digest]]) };
}

function without<T>(
  table: Readonly<Record<string, T>>,
  key: string | undefined,
): Readonly<Record<string, T>> {
  if (key === undefined || !(key in table)) return table;
  return Object.fromEntries(Object.entries(table).filter(([name]) => name !== key));
}

function contextOf(context: {
  cwd?: string;
  gitRoot?: string;
  repository?: string;
  branch?: string;
}): SessionContext {
  return {
    cwd: context.cwd ?? '',
    ...(context.gitRoot !== undefined && { gitRoot: context.gitRoot }),
    ...(context.repository !== undefined && { repository: context.repository }),
    ...(context.branch !== undefined && { branch: context.branch }),
  };
}

function settingsOf(model: string | undefined, reasoningEffort: string | undefined) {
  return { ...(model !== undefined && { model }), ...(reasoningEffort !== undefined && { reasoningEffort }) };
}
