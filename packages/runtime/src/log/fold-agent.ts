import type { Part } from '@groundcrew/models';
import type { EventOf, SessionEvent } from '@groundcrew/protocol';
import { lose, reserve, settle } from '../budget/spending.js';
import { ownEntry } from '../own-entry.js';
import { skillContext } from '../tools/skill-context.js';
import {
  clearHistory,
  compactHistory,
  cutHistory,
  dropHistory,
  insertBefore,
  notice,
  rewriteArguments,
  withEntry,
} from './agent-history.js';
import type { NoteDraft, Notes } from './notes.js';
import type { AgentState, CallContext } from './state.js';

/** What a private record of an agent changes in its part of the state. */
export function foldAgentNote(agent: AgentState, entry: NoteDraft): AgentState {
  switch (entry.note) {
    case 'ask.lost':
      return { ...agent, spending: lose(agent.spending, entry.data) };
    case 'ask.reserved':
      return { ...agent, spending: reserve(agent.spending, entry.data) };
    case 'ask.settled':
      return { ...agent, spending: settle(agent.spending, entry.data) };
    case 'call.intended':
      return intendCall(agent, entry.data);
    case 'call.unreadable':
      return withCall(agent, entry.data.toolCallId, { problem: entry.data.problem });
    case 'call.answered': {
      const { toolCallId, result } = entry.data;
      return withCall(agent, toolCallId, { answer: result });
    }
    case 'call.context':
      return withContext(agent, entry.data);
    case 'call.modified':
      return withArguments(agent, entry.data.toolCallId, entry.data.arguments);
    case 'context.inserted':
      return insertBefore(agent, entry.data);
    case 'call.interrupted':
      return closeCall(agent, entry.data.toolCallId);
    case 'history.compacted':
      return compactHistory(agent, entry.data);
    case 'history.dropped':
      return dropHistory(agent, entry.data.eventIds);
    case 'view.cut':
      return { ...agent, view: entry.data };
    case 'history.cut':
      return cutBefore(agent, entry.data.fromEventId);
    case 'limits.asked': {
      const { requestId } = entry.data;
      const question = { kind: 'session_limits', requestId, toolCallId: '', event: entry.data } as const;
      return { ...agent, questions: [...withoutQuestion(agent, requestId).questions, question] };
    }
    case 'question.asked': {
      const { requestId, toolCallId = '' } = entry.data;
      const question = { kind: 'user_input', requestId, toolCallId, event: entry.data } as const;
      return { ...agent, questions: [...agent.questions, question] };
    }
    case 'question.opened': {
      const { data } = entry;
      if (data.kind === 'elicitation' || data.kind === 'sampling') return agent;
      return { ...agent, questions: [...withoutQuestion(agent, data.requestId).questions, data] };
    }
    case 'question.closed':
      return withoutQuestion(agent, entry.data.requestId);
    case 'tools.offered':
      return { ...agent, offered: [...(agent.offered ?? []), entry.data.digest] };
    case 'verbatim':
      return { ...agent, verbatim: { ...agent.verbatim, [entry.data.id]: entry.data } };
    default:
      return foldEndNote(agent, entry);
  }
}

function stopped(agent: AgentState): AgentState {
  return agent.stop?.isOpen ? { ...agent, stop: { ...agent.stop, isOpen: false } } : agent;
}

/** The newest words of the same source count. */
function withContext(agent: AgentState, context: CallContext): AgentState {
  const { toolCallId, source } = context;
  const others = agent.contexts.filter((each) => each.toolCallId !== toolCallId || each.source !== source);
  return { ...agent, contexts: [...others, context] };
}

/** The form that the answer to a prompt has to have, and whether the agent may stop. */
function foldEndNote(agent: AgentState, entry: NoteDraft): AgentState {
  if (entry.note === 'stop.asked') return { ...agent, stop: { ...entry.data, isOpen: true } };
  if (entry.note === 'prompt.taken') {
    const { interactionId } = entry.data;
    return { ...stopped(agent), awaited: { interactionId, prompt: '' } };
  }
  if (entry.note === 'stop.decided') return withoutAwaited(stopped(agent));
  if (entry.note === 'output.wanted') return { ...agent, output: entry.data };
  if (entry.note !== 'output.settled') return agent;
  const { output: _, ...rest } = agent;
  return rest;
}

/** What an event of an agent changes in its part of the state. */
export function foldAgentEvent(agent: AgentState, event: SessionEvent): AgentState {
  switch (event.type) {
    case 'user.message':
      return foldUserMessage(agent, event);
    case 'session.compaction_start':
      return { ...agent, isCompacting: true };
    case 'session.compaction_complete':
      return { ...agent, isCompacting: false };
    case 'session.context_cleared':
      return clearHistory(withoutAwaited(agent), event);
    case 'system.message':
      return { ...agent, systemPrompt: event.data.content };
    case 'system.notification':
      return withEntry(agent, notice(event.id, event.data.content));
    case 'skill.invoked':
      return foldSkill(agent, event);
    case 'assistant.turn_start': {
      const { turnId, interactionId = '' } = event.data;
      return { ...withoutAwaited(stopped(agent)), turn: { turnId, interactionId, hasAnswer: false } };
    }
    case 'assistant.turn_end':
      return { ...withContexts(agent, event.id), turn: undefined, calls: [], questions: [] };
    case 'abort':
      return { ...withoutAwaited(stopped(agent)), calls: [], questions: [] };
    case 'session.error':
      return withoutAwaited(agent);
    case 'assistant.message':
      return foldAnswer(agent, event);
    case 'tool.execution_start':
      return foldCallStart(agent, event);
    case 'tool.execution_complete':
      return foldReceipt(agent, event);
    case 'permission.requested':
    case 'permission.completed':
    case 'external_tool.requested':
    case 'external_tool.completed':
      return foldQuestion(agent, event);
    default:
      return agent;
  }
}

function foldUserMessage(agent: AgentState, event: EventOf<'user.message'>): AgentState {
  const { messageId, content, transformedContent, delivery } = event.data;
  const verbatim = verbatimOf(agent, messageId);
  const text = verbatim?.text ?? transformedContent ?? content;
  const parts: Part[] = [{ type: 'text', text }, ...(verbatim?.parts ?? [])];
  const isNewTurn = delivery !== 'steering';
  return {
    ...withEntry(isNewTurn ? stopped(agent) : agent, {
      role: 'user',
      eventId: event.id,
      parts,
      ...(!isNewTurn && { isAside: true }),
    }),
    ...(isNewTurn && { turn: undefined, calls: [], questions: [], ...awaitedBy(event) }),
    verbatim: without(agent.verbatim, messageId),
  };
}

/** A turn has to follow, also when the process dies before it begins; of sub-agents their tasks say so. */
function awaitedBy({ agentId, data }: EventOf<'user.message'>): Pick<AgentState, 'awaited'> {
  const { interactionId, content: prompt } = data;
  return agentId === undefined && interactionId ? { awaited: { interactionId, prompt } } : {};
}

/** A rewind takes back the prompt that awaits its turn, too. */
function cutBefore(agent: AgentState, fromEventId: string): AgentState {
  const cut = cutHistory(agent, fromEventId);
  return cut === agent ? agent : withoutAwaited(cut);
}

function withoutAwaited(agent: AgentState): AgentState {
  if (agent.awaited === undefined) return agent;
  const { awaited: _, ...rest } = agent;
  return rest;
}

/** A skill that the model took up is read after the results of its turn; one of the user's stands in the prompt. */
function foldSkill(agent: AgentState, { data }: EventOf<'skill.invoked'>): AgentState {
  if (data.trigger !== 'agent-invoked') return agent;
  const { name, path, content } = data;
  const directory = path.replace(/[\\/][^\\/]*$/, '');
  const source = `skill ${path}`;
  const others = agent.contexts.filter((context) => context.source !== source);
  const texts = [skillContext({ name, directory }, content)];
  return { ...agent, contexts: [...others, { toolCallId: '', source, texts }] };
}

function foldAnswer(agent: AgentState, event: EventOf<'assistant.message'>): AgentState {
  const { content, messageId, model = '', toolRequests = [] } = event.data;
  const toolCalls = toolRequests.map((request) => ({
    callId: request.toolCallId,
    name: request.name,
    argumentsText: verbatimOf(agent, request.toolCallId)?.text ?? JSON.stringify(request.arguments ?? {}),
  }));
  const blocks = verbatimOf(agent, messageId)?.kept;
  const kept = blocks && { kept: { model, blocks } };
  return {
    ...withEntry(agent, { role: 'assistant', eventId: event.id, text: content, toolCalls, ...kept }),
    verbatim: {},
    ...(agent.turn && { turn: { ...agent.turn, hasAnswer: true } }),
  };
}

function foldCallStart(agent: AgentState, { data }: EventOf<'tool.execution_start'>): AgentState {
  const { toolCallId, toolName } = data;
  const others = agent.calls.filter((call) => call.toolCallId !== toolCallId);
  const before = agent.calls.find((call) => call.toolCallId === toolCallId);
  const begun = { toolCallId, toolName, arguments: data.arguments, attempts: 0 };
  return { ...agent, calls: [...others, before ? { ...before, ...begun } : begun] };
}

function foldReceipt(agent: AgentState, event: EventOf<'tool.execution_complete'>): AgentState {
  if (event.data.isUserRequested) return foldUserCommand(agent, event);
  const { toolCallId, result, error } = event.data;
  const verbatim = verbatimOf(agent, toolCallId);
  const text = verbatim?.text ?? result?.content ?? error?.message ?? '';
  const parts = verbatim?.parts && { parts: verbatim.parts };
  const entry = { role: 'tool', eventId: event.id, callId: toolCallId, text, ...parts } as const;
  const isRejected = error?.code === 'rejected';
  return {
    ...closeCall(withEntry(agent, entry), toolCallId),
    verbatim: without(agent.verbatim, toolCallId),
    ...(isRejected && agent.turn && { turn: { ...agent.turn, isRejected } }),
  };
}

/** A command that the user ran is no call of the model's: the model reads of it as of a message. */
function foldUserCommand(agent: AgentState, event: EventOf<'tool.execution_complete'>): AgentState {
  const { toolCallId } = event.data;
  const text = verbatimOf(agent, toolCallId)?.text;
  if (text === undefined) return agent;
  return { ...withEntry(agent, notice(event.id, text)), verbatim: without(agent.verbatim, toolCallId) };
}

type QuestionEvent = EventOf<
  'permission.requested' | 'permission.completed' | 'external_tool.requested' | 'external_tool.completed'
>;

function foldQuestion(agent: AgentState, event: QuestionEvent): AgentState {
  switch (event.type) {
    case 'permission.requested': {
      const { requestId, permissionRequest } = event.data;
      const toolCallId = permissionRequest.toolCallId ?? '';
      const question = { kind: 'permission', requestId, toolCallId, event: event.data } as const;
      return { ...agent, questions: [...agent.questions, question] };
    }
    case 'external_tool.requested': {
      const { requestId, toolCallId } = event.data;
      const question = { kind: 'external_tool', requestId, toolCallId, event: event.data } as const;
      return { ...agent, questions: [...agent.questions, question] };
    }
    case 'permission.completed': {
      const { result, requestId } = event.data;
      const calls = result.kind.startsWith('approved') ? callsApproved(agent, requestId) : agent.calls;
      return { ...withoutQuestion(agent, requestId), calls };
    }
    case 'external_tool.completed':
      return withoutQuestion(agent, event.data.requestId);
  }
}

function callsApproved({ questions, calls }: AgentState, requestId: string): AgentState['calls'] {
  const question = questions.find((each) => each.requestId === requestId);
  if (question?.kind !== 'permission') return calls;
  const { toolCallId, event } = question;
  return calls.map((call) =>
    call.toolCallId === toolCallId ? { ...call, granted: [...(call.granted ?? []), event] } : call,
  );
}

/** What hooks said of the turn's calls stands behind their results. */
function withContexts(agent: AgentState, eventId: string): AgentState {
  const texts = agent.contexts.flatMap((context) => context.texts);
  if (texts.length === 0) return agent;
  const after = texts.reduce(
    (state, text, index) => withEntry(state, notice(`${eventId}/${index}`, text)),
    agent,
  );
  return { ...after, contexts: [] };
}

/** The model reads a call with the arguments that it was run with. */
function withArguments(agent: AgentState, toolCallId: string, given: unknown): AgentState {
  const rewritten = rewriteArguments(agent, toolCallId, JSON.stringify(given) ?? '{}');
  return withCall(rewritten, toolCallId, { modified: { arguments: given } });
}

function withCall(
  agent: AgentState,
  toolCallId: string,
  change: Partial<AgentState['calls'][number]>,
): AgentState {
  const calls = agent.calls.map((call) => (call.toolCallId === toolCallId ? { ...call, ...change } : call));
  return { ...agent, calls };
}

/** It runs now; what an attempt before this one came to no longer counts. */
function intendCall(
  agent: AgentState,
  { toolCallId, attempt: attempts, isUnguarded = false }: Notes['call.intended'],
): AgentState {
  const calls = agent.calls.map((call) => {
    if (call.toolCallId !== toolCallId) return call;
    const { answer: _, isUnguarded: __, ...open } = call;
    return { ...open, attempts, ...(isUnguarded && { isUnguarded }) };
  });
  return { ...agent, calls };
}

function closeCall(agent: AgentState, toolCallId: string): AgentState {
  return {
    ...agent,
    calls: agent.calls.filter((call) => call.toolCallId !== toolCallId),
    questions: agent.questions.filter((question) => question.toolCallId !== toolCallId),
  };
}

function withoutQuestion(agent: AgentState, requestId: string): AgentState {
  const questions = agent.questions.filter((question) => question.requestId !== requestId);
  return questions.length === agent.questions.length ? agent : { ...agent, questions };
}

function verbatimOf({ verbatim }: AgentState, id: string | undefined) {
  return id === undefined ? undefined : ownEntry(verbatim, id);
}

function without<T>(
  table: Readonly<Record<string, T>>,
  key: string | undefined,
): Readonly<Record<string, T>> {
  if (key === undefined || !Object.hasOwn(table, key)) return table;
  return Object.fromEntries(Object.entries(table).filter(([name]) => name !== key));
}
