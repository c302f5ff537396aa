import type { EventOf, SessionEvent } from '@groundcrew/protocol';
import type { SessionContext } from '@groundcrew/store';
import { lose, settle } from '../budget/spending.js';
import { ownEntry } from '../own-entry.js';
import type { AgentTask } from './agent-task.js';
import { appAgentId, foldAppEvent } from './app-calls.js';
import { withoutOldAgents } from './ended-agents.js';
import { foldFileChange, withWrite } from './file-change.js';
import { foldAgentEvent, foldAgentNote } from './fold-agent.js';
import type { NoteDraft } from './notes.js';
import { scheduleOf } from './schedule.js';
import { stateOfSnapshot } from './snapshot.js';
import { type AgentState, agentOf, type Prompt, rootAgentId, type SessionState } from './state.js';

/** Why a model was changed that could not be had. */
export const rateLimited = 'rate_limit_auto_switch';

/** A record of the log, opened. */
export type Entry = { readonly seq: number } & ({ readonly event: SessionEvent } | NoteDraft);

/** The state a log adds up to. Pure: replaying the log always gives the same state. */
export function reduce(state: SessionState, entry: Entry): SessionState {
  if ('note' in entry)
    return {
      ...foldNote(state, entry),
      seq: entry.seq,
      ...(entry.note === 'snapshot' && { snapshotSeq: entry.seq }),
    };
  const { event } = entry;
  const agentId = event.agentId ?? rootAgentId;
  const agent = agentOf(state, agentId);
  const fold = agentId === appAgentId ? foldAppEvent : foldAgentEvent;
  const next = withAgent(foldEvent(state, event), agentId, agent, fold(agent, event));
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
  return state.requests.length > 0 || hasTurnWork(state);
}

/** The same, less questions that belong to no turn. */
export function hasTurnWork(state: SessionState): boolean {
  return (
    (state.isQueuePaused ? state.inbox.some(isForTurn) : state.inbox.length > 0) ||
    Object.values(state.tasks).some(({ status }) => status === 'running') ||
    Object.values(state.agents).some(
      ({ turn, awaited, questions, output, stop }) =>
        [turn, awaited, output].some((each) => each !== undefined) || stop?.isOpen || questions.length > 0,
    )
  );
}

const isForTurn = ({ mode }: Prompt) => mode === 'immediate';

function withAgent(
  state: SessionState,
  agentId: string,
  before: AgentState,
  after: AgentState,
): SessionState {
  return after === before ? state : { ...state, agents: { ...state.agents, [agentId]: after } };
}

function foldNote(state: SessionState, entry: NoteDraft): SessionState {
  const agentId = entry.agentId ?? rootAgentId;
  const agent = agentOf(state, agentId);
  return withAgent(foldSessionNote(state, entry), agentId, agent, foldAgentNote(agent, entry));
}

/** What a private record changes for the whole session. */
function foldSessionNote(state: SessionState, entry: NoteDraft): SessionState {
  switch (entry.note) {
    case 'agent.started':
      return { ...state, tasks: { ...state.tasks, [entry.data.agentId]: entry.data } };
    case 'agent.changed': {
      const after = withTask(state, entry.data.agentId, () => entry.data);
      return entry.data.completedAt === undefined ? after : withoutOldAgents(after);
    }
    case 'agent.messaged': {
      const { agentId, ...message } = entry.data;
      return withTask(state, agentId, ({ messages }) => ({ messages: [...messages, message] }));
    }
    case 'agent.removed':
      return withoutTask(state, entry.data.agentId);
    case 'ask.lost':
      return { ...state, spending: lose(state.spending, entry.data) };
    case 'ask.reserved': {
      // The reservation is the agent's. An earlier one that was never settled counts as spent by the session, too.
      const { reserved } = agentOf(state, entry.agentId).spending;
      return reserved ? { ...state, spending: lose(state.spending, reserved) } : state;
    }
    case 'ask.settled':
      return { ...state, spending: settle(state.spending, entry.data) };
    case 'history.truncated':
      return stateOfSnapshot(entry.data.state);
    case 'command.begun':
      return withChangedPrompt(state, { ...entry.data, isBegun: true });
    case 'model.chosen':
      return { ...state, nextModel: entry.data };
    case 'permissions.changed': {
      const { approvals = state.approvals, ...change } = entry.data;
      return { ...state, approvals, permissions: { ...state.permissions, ...change } };
    }
    case 'prompt.admitted':
      return { ...withReceipt(state, entry.data), inbox: [...state.inbox, entry.data] };
    case 'prompt.extended':
      return withChangedPrompt(state, entry.data);
    case 'prompt.received':
      return withReceipt(state, entry.data);
    case 'prompt.taken':
    case 'prompt.withdrawn':
      return withoutPrompt(state, entry.data.messageId);
    case 'question.closed':
      return withoutRequest(state, entry.data.requestId);
    case 'question.opened': {
      const { data } = entry;
      if (data.kind !== 'elicitation' && data.kind !== 'sampling') return state;
      return { ...state, requests: [...withoutRequest(state, data.requestId).requests, data] };
    }
    case 'schedule.armed':
      return withSchedule(state, entry.data);
    case 'settings.fixed':
      return { ...state, fixed: { ...state.fixed, ...entry.data } };
    case 'snapshot':
      return stateOfSnapshot(entry.data.state);
    default:
      return foldWorkNote(state, entry);
  }
}

/** What tools wrote, what clients work on, and how prompts wait. */
function foldWorkNote(state: SessionState, entry: NoteDraft): SessionState {
  switch (entry.note) {
    case 'file.changing':
      return { ...state, ...foldFileChange(state, entry.data) };
    case 'file.written':
      return { ...state, codeChanges: withWrite(state.codeChanges, entry.data) };
    case 'queue.ordered':
      return { ...state, inbox: inOrder(state.inbox, entry.data.messageIds) };
    case 'queue.paused':
      return { ...state, isQueuePaused: entry.data.isPaused };
    case 'task.kept':
      return { ...state, clientTasks: { ...state.clientTasks, [entry.data.id]: entry.data } };
    case 'task.removed': {
      const { [entry.data.id]: _, ...clientTasks } = state.clientTasks ?? {};
      return { ...state, clientTasks };
    }
    default:
      return state;
  }
}

/** What an event changes for the whole session. */
function foldEvent(state: SessionState, event: SessionEvent): SessionState {
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
    case 'session.canvas.recorded':
      return { ...state, canvases: { ...state.canvases, [event.data.instanceId]: event.data } };
    case 'session.canvas.removed':
      return { ...state, canvases: withoutCanvas(state, event.data.instanceId) };
    case 'session.context_changed':
      return { ...state, context: contextOf(event.data) };
    case 'session.model_change':
      return foldModelChange(state, event);
    case 'session.session_limits_changed':
      return withoutLimitQuestions({ ...state, limits: event.data.sessionLimits ?? {} });
    case 'session.mode_changed':
      return { ...state, mode: event.data.newMode, promptMode: undefined };
    case 'session.autopilot_objective_changed':
      return foldObjective(state, event);
    case 'session.task_complete':
      return event.agentId === undefined ? { ...state, isTaskComplete: true } : state;
    case 'session.schedule_created':
      return foldSchedule(state, event);
    case 'session.schedule_rearmed':
      return withSchedule(state, event.data);
    case 'session.schedule_cancelled':
      return { ...state, schedules: state.schedules.filter(({ id }) => id !== event.data.id) };
    case 'session.permissions_changed':
      return { ...state, permissions: { ...state.permissions, mode: event.data.mode } };
    case 'user.message':
      return event.agentId === undefined ? foldUserMessage(state, event) : foldTaskMessage(state, event);
    case 'system.notification':
      return foldNotification(state, event);
    case 'subagent.started':
      return withTask(state, event.agentId ?? '', () => ({ isAnnounced: true }));
    case 'assistant.turn_end':
      return event.agentId === undefined ? state : foldReply(state, event.agentId);
    case 'subagent.selected':
      return { ...state, selectedAgent: event.data.agentName };
    case 'subagent.deselected':
      return { ...state, selectedAgent: undefined };
    case 'permission.completed': {
      const { result } = event.data;
      return 'approval' in result ? { ...state, approvals: [...state.approvals, result.approval] } : state;
    }
    default:
      return state;
  }
}

/** The next objective has the next id. */
function foldObjective(
  state: SessionState,
  { data }: EventOf<'session.autopilot_objective_changed'>,
): SessionState {
  const { id = state.objective?.id ?? 1, status = 'paused' } = data;
  return { ...state, objective: { id, status: data.operation === 'delete' ? 'paused' : status } };
}

function foldSchedule(state: SessionState, event: EventOf<'session.schedule_created'>): SessionState {
  const added = scheduleOf(event);
  const others = state.schedules.filter(({ id }) => id !== added.id);
  const lastScheduleId = Math.max(state.lastScheduleId, added.id);
  return { ...state, schedules: [...others, added], lastScheduleId };
}

function withSchedule(
  state: SessionState,
  { id, nextRunAt }: { readonly id: number; readonly nextRunAt: number },
): SessionState {
  const schedules = state.schedules.map((each) => (each.id === id ? { ...each, nextRunAt } : each));
  return { ...state, schedules };
}

function foldModelChange(state: SessionState, { data }: EventOf<'session.model_change'>): SessionState {
  return {
    ...state,
    model: data.newModel,
    reasoningEffort: data.reasoningEffort ?? undefined,
    isModelByDefault: data.source === 'startup',
    nextModel: undefined,
    limitedModel: data.cause === rateLimited ? data.previousModel : undefined,
  };
}

function foldUserMessage(state: SessionState, { id, data }: EventOf<'user.message'>): SessionState {
  const { agentMode, delivery, isAutopilotContinuation = false } = data;
  const begun = {
    promptMode: agentMode === 'shell' ? undefined : agentMode,
    continuations: isAutopilotContinuation ? state.continuations + 1 : 0,
    isTaskComplete: false,
  };
  return {
    ...withoutPrompt(state, data.messageId),
    ...(delivery !== 'steering' && { ...begun, leadingAgent: state.selectedAgent, promptId: id }),
    userTurns: state.userTurns + (isAutopilotContinuation ? 0 : 1),
    summary: state.summary ?? data.content.slice(0, longestSummary),
  };
}

/** A message that a sub-agent has taken up waits no longer. */
function foldTaskMessage(state: SessionState, { agentId = '', data }: EventOf<'user.message'>): SessionState {
  return withTask(state, agentId, ({ messages }) => ({
    messages: messages.filter(({ messageId }) => messageId !== data.messageId),
  }));
}

/** A turn that ended with words and no calls has answered what a sub-agent was asked. */
function foldReply(state: SessionState, agentId: string): SessionState {
  const last = agentOf(state, agentId).history.at(-1);
  if (last?.role !== 'assistant' || last.toolCalls.length > 0 || last.text === '') return state;
  return withTask(state, agentId, ({ turns = 0, replies = [] }) => ({
    turns: turns + 1,
    replies: [...replies, last.text].slice(-mostReplies),
  }));
}

const mostReplies = 10;

function foldNotification(state: SessionState, { data }: EventOf<'system.notification'>): SessionState {
  const { kind } = data;
  const isOfAgent = kind?.type === 'agent_completed' || kind?.type === 'agent_idle';
  return isOfAgent ? withTask(state, String(kind.agentId), () => ({ isNotified: true })) : state;
}

function withTask(
  state: SessionState,
  agentId: string,
  change: (task: AgentTask) => Partial<AgentTask>,
): SessionState {
  const task = ownEntry(state.tasks, agentId);
  if (!task) return state;
  return { ...state, tasks: { ...state.tasks, [agentId]: { ...task, ...change(task) } } };
}

function withoutTask(state: SessionState, agentId: string): SessionState {
  const { [agentId]: _, ...tasks } = state.tasks;
  const { [agentId]: __, ...agents } = state.agents;
  return { ...state, tasks, agents };
}

/** It is a part of every head and every list of sessions. */
const longestSummary = 1000;

/** New limits answer the question about the old ones, whichever agent had asked it. */
function withoutLimitQuestions(state: SessionState): SessionState {
  const agents = Object.entries(state.agents).map(([agentId, agent]) => {
    const questions = agent.questions.filter(({ kind }) => kind !== 'session_limits');
    return [agentId, questions.length === agent.questions.length ? agent : { ...agent, questions }] as const;
  });
  return { ...state, agents: Object.fromEntries(agents) };
}

function withoutRequest(state: SessionState, requestId: string): SessionState {
  const requests = state.requests.filter((each) => each.requestId !== requestId);
  return requests.length === state.requests.length ? state : { ...state, requests };
}

function withoutPrompt(state: SessionState, messageId: string | undefined): SessionState {
  return { ...state, inbox: state.inbox.filter((prompt) => prompt.messageId !== messageId) };
}

function withChangedPrompt(
  state: SessionState,
  change: Pick<Prompt, 'messageId'> & Partial<Prompt>,
): SessionState {
  const { messageId } = change;
  const inbox = state.inbox.map((each) => (each.messageId === messageId ? { ...each, ...change } : each));
  return { ...state, inbox };
}

function inOrder(inbox: readonly Prompt[], messageIds: readonly string[]): readonly Prompt[] {
  const place = new Map(messageIds.map((messageId, index) => [messageId, index]));
  return inbox.toSorted((a, b) => (place.get(a.messageId) ?? -1) - (place.get(b.messageId) ?? -1));
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

function withoutCanvas({ canvases = {} }: SessionState, instanceId: string): SessionState['canvases'] {
  const { [instanceId]: _, ...others } = canvases;
  return others;
}
