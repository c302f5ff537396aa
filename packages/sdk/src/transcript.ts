import type { EventData, SessionEvent } from '@groundcrew/protocol';
import { reduceItems } from './transcript-fold.js';
import type { TranscriptAgent, TranscriptItem } from './transcript-item.js';
import { isQuestionEnd, questionOf, type TranscriptQuestion } from './transcript-questions.js';

/** What model calls have used, as far as this screen was there. */
export interface TranscriptUsage {
  readonly calls: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null when the price of some call is not known. */
  readonly cost: number | null;
  readonly context?: { readonly tokens: number; readonly limit: number };
}

/** What a screen shows of a session: a fold of its events. */
export interface Transcript {
  readonly main: TranscriptAgent;
  /** Sub-agents, the first that was started first. */
  readonly agents: readonly TranscriptAgent[];
  /** Questions that wait for an answer, the oldest first. */
  readonly questions: readonly TranscriptQuestion[];
  readonly usage: TranscriptUsage;
  readonly title?: string;
  readonly model?: string;
  /** Grows when the todo list changed: a screen that shows it reads it anew. */
  readonly todoRevision: number;
  /** Nothing runs and nothing waits. */
  readonly isIdle: boolean;
}

/** What the session waits for. */
export type TranscriptWait =
  | { readonly type: 'question'; readonly requestId: string }
  | { readonly type: 'tool'; readonly toolCallId: string; readonly name: string }
  | { readonly type: 'model' };

/** A session before its first event. */
export const emptyTranscript: Transcript = {
  main: { state: 'running', items: [], isTurnOpen: false },
  agents: [],
  questions: [],
  usage: { calls: 0, inputTokens: 0, outputTokens: 0, cost: 0 },
  todoRevision: 0,
  isIdle: true,
};

/** Folds events, stored or live, into what a screen shows. */
export function transcriptOf(events: Iterable<SessionEvent>): Transcript {
  let transcript = emptyTranscript;
  const settled: TranscriptItem[] = [];
  for (const event of events) {
    transcript = foldTranscript(transcript, event);
    // Each step copies the list: of a long session, what no event changes any more is put aside.
    if (transcript.main.items.length > mostFolded) transcript = putAside(transcript, settled);
  }
  const { main } = transcript;
  return settled.length === 0
    ? transcript
    : { ...transcript, main: { ...main, items: [...settled, ...main.items] } };
}

const mostFolded = 1024;
const leastKept = 512;

/** The oldest items are settled once no call among them runs. */
function putAside(transcript: Transcript, settled: TranscriptItem[]): Transcript {
  const { items } = transcript.main;
  const running = items.findIndex((item) => item.type === 'tool' && item.state === 'running');
  const last = items.length - leastKept;
  const count = running < 0 ? last : Math.min(running, last);
  if (count === 0) return transcript;
  settled.push(...items.slice(0, count));
  return { ...transcript, main: { ...transcript.main, items: items.slice(count) } };
}

/** The transcript after one more event; the one before is not changed. */
export function foldTranscript(before: Transcript, event: SessionEvent): Transcript {
  const known = withAgentOf(before, event);
  const agent = agentOf(known, event);
  const reduced = reduceItems(agent, event);
  const after = reduced === agent ? known : withAgent(known, agent, reduced);
  return reduceSession(withQuestions(after, event), event);
}

/**
 * The part of a transcript that its log alone gives: the same for a screen that was there and one that replays the log.
 * Answers that are arriving, output so far, usage and whether the session is idle are no part of it.
 */
export function storedPart(transcript: Transcript): Transcript {
  const { title: _, ...rest } = transcript;
  return {
    ...rest,
    main: storedAgent(transcript.main),
    agents: transcript.agents.map(storedAgent),
    questions: transcript.questions.filter(({ isEphemeral }) => !isEphemeral),
    usage: emptyTranscript.usage,
    todoRevision: 0,
    isIdle: true,
  };
}

/** What the session waits for now; nothing while an answer arrives. */
export function waitsOf({ main, questions, isIdle }: Transcript): readonly TranscriptWait[] {
  if (questions.length > 0) return questions.map(({ requestId }) => ({ type: 'question', requestId }));
  const running = main.items.flatMap((item) =>
    item.type === 'tool' && item.state === 'running' ? [item] : [],
  );
  if (running.length > 0) return running.map(({ id, name }) => ({ type: 'tool', toolCallId: id, name }));
  return isIdle || main.streaming ? [] : [{ type: 'model' }];
}

function reduceSession(transcript: Transcript, event: SessionEvent): Transcript {
  const isMain = event.agentId === undefined;
  switch (event.type) {
    case 'session.start':
      return withModel(transcript, event.data.selectedModel);
    case 'session.resume':
      return withModel(transcript, event.data.selectedModel);
    case 'session.model_change':
      return withModel(transcript, event.data.newModel);
    case 'session.title_changed':
      return { ...transcript, title: event.data.title };
    case 'session.todos_changed':
      return { ...transcript, todoRevision: transcript.todoRevision + 1 };
    case 'session.idle':
      return { ...transcript, isIdle: true };
    case 'user.message':
    case 'assistant.turn_start':
      return isMain ? { ...transcript, isIdle: false } : transcript;
    case 'abort':
      return { ...transcript, agents: transcript.agents.map(interrupted) };
    case 'assistant.usage':
      return { ...transcript, usage: withCall(transcript.usage, event.data) };
    case 'session.usage_info':
      return isMain ? { ...transcript, usage: withContext(transcript.usage, event.data) } : transcript;
    default:
      return transcript;
  }
}

function withModel(transcript: Transcript, model: string | undefined): Transcript {
  return model === undefined ? transcript : { ...transcript, model };
}

function withCall(usage: TranscriptUsage, data: EventData<'assistant.usage'>): TranscriptUsage {
  const { inputTokens = 0, outputTokens = 0, cost = null } = data;
  return {
    ...usage,
    calls: usage.calls + 1,
    inputTokens: usage.inputTokens + inputTokens,
    outputTokens: usage.outputTokens + outputTokens,
    cost: usage.cost === null || cost === null ? null : usage.cost + cost,
  };
}

function withContext(usage: TranscriptUsage, data: EventData<'session.usage_info'>): TranscriptUsage {
  return { ...usage, context: { tokens: data.currentTokens, limit: data.tokenLimit } };
}

function withQuestions(transcript: Transcript, event: SessionEvent): Transcript {
  const asked = questionOf(event);
  const { questions } = transcript;
  if (asked) {
    const others = questions.filter(({ requestId }) => requestId !== asked.requestId);
    return { ...transcript, questions: [...others, asked] };
  }
  const open = questions.filter((question) => !isQuestionEnd(event, question));
  return open.length === questions.length ? transcript : { ...transcript, questions: open };
}

/** Which sub-agent an event belongs to: its id, or in older logs the call that started it. */
function placeOf({ agentId, data }: SessionEvent): {
  readonly id: string | undefined;
  readonly callId: string | undefined;
} {
  const { parentToolCallId } = data as { readonly parentToolCallId?: string };
  return { id: agentId ?? parentToolCallId, callId: parentToolCallId };
}

function agentOf(transcript: Transcript, event: SessionEvent): TranscriptAgent {
  return findAgent(transcript, event) ?? transcript.main;
}

function findAgent({ agents }: Transcript, event: SessionEvent): TranscriptAgent | undefined {
  const { id, callId } = placeOf(event);
  const started = startedCall(event);
  const exact = id === undefined ? undefined : agents.find((agent) => agent.id === id);
  // Some services give the calls of every answer the same ids: where agents have ids, those decide.
  const isNamed = event.agentId !== undefined;
  return (
    exact ??
    agents.find(
      ({ id: known, toolCallId }) =>
        toolCallId !== undefined &&
        (toolCallId === callId || toolCallId === started) &&
        (!isNamed || known === toolCallId),
    )
  );
}

function startedCall(event: SessionEvent): string | undefined {
  const isLife =
    event.type === 'subagent.started' ||
    event.type === 'subagent.completed' ||
    event.type === 'subagent.failed';
  return isLife ? event.data.toolCallId : undefined;
}

/** A sub-agent is known from its first event on, whichever that is. */
function withAgentOf(transcript: Transcript, event: SessionEvent): Transcript {
  const started = startedCall(event);
  const { id = started, callId = started } = placeOf(event);
  if (id === undefined || findAgent(transcript, event)) return transcript;
  const parent = transcript.agents.find(({ items }) =>
    items.some((item) => item.type === 'tool' && item.id === callId),
  );
  const agent: TranscriptAgent = {
    id,
    state: 'running',
    items: [],
    isTurnOpen: false,
    ...(callId !== undefined && { toolCallId: callId }),
    ...(parent?.id !== undefined && { parentId: parent.id }),
  };
  return { ...transcript, agents: [...transcript.agents, agent] };
}

function withAgent(transcript: Transcript, before: TranscriptAgent, after: TranscriptAgent): Transcript {
  if (before === transcript.main) return { ...transcript, main: after };
  return { ...transcript, agents: transcript.agents.map((each) => (each === before ? after : each)) };
}

function interrupted(agent: TranscriptAgent): TranscriptAgent {
  if (agent.state !== 'running') return agent;
  const { streaming: _, retry: __, ...rest } = agent;
  return { ...rest, state: 'interrupted', isTurnOpen: false, items: agent.items.map(interruptedItem) };
}

function interruptedItem(item: TranscriptItem): TranscriptItem {
  return item.type === 'tool' && item.state === 'running' ? { ...item, state: 'interrupted' } : item;
}

function storedAgent(agent: TranscriptAgent): TranscriptAgent {
  const { streaming: _, retry: __, tokens, ...rest } = agent;
  // In the log only the event of an agent's end has its usage.
  const isCounted = tokens !== undefined && agent.milliseconds !== undefined;
  const stored = { ...rest, ...(isCounted && { tokens }) };
  const items = agent.items.filter((item) => item.type !== 'notice' || !item.isEphemeral);
  return { ...stored, items: items.map(storedItem) };
}

function storedItem(item: TranscriptItem): TranscriptItem {
  if (item.type !== 'tool' || item.state === 'succeeded' || item.state === 'failed') return item;
  const { output: _, progress: __, ...stored } = item;
  return stored;
}
