import type { EventData, SessionEvent } from '@groundcrew/sdk/browser';

/** One bar of the waterfall. */
export interface Span {
  readonly id: string;
  readonly kind: 'model' | 'tool' | 'hook' | 'agent';
  readonly label: string;
  readonly start: number;
  readonly end: number | undefined;
  readonly isFailed: boolean;
  readonly agentId: string | undefined;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

/** A prompt and all that followed from it. */
export interface Turn {
  readonly eventId: string;
  readonly prompt: string;
  readonly start: number;
  readonly end: number;
  readonly spans: readonly Span[];
}

/** What one model call used, at a point in time. */
export interface UsagePoint {
  readonly at: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cost: number;
}

/** What happened when. */
export interface Timeline {
  readonly turns: readonly Turn[];
  readonly usage: readonly UsagePoint[];
  /** Model calls of the main agent, whose requests are stored: how many. */
  readonly requests: number;
}

/** Before the first event. */
export const emptyTimeline: Timeline = { turns: [], usage: [], requests: 0 };

/** The timeline after one more event. */
export function foldTimeline(timeline: Timeline, event: SessionEvent): Timeline {
  const at = Date.parse(event.timestamp);
  if (event.type === 'user.message' && event.agentId === undefined)
    return withTurn(timeline, event.id, event.data.content, at);
  const requests =
    timeline.requests + (event.type === 'assistant.turn_start' && event.agentId === undefined ? 1 : 0);
  const usage = usageOf(event, at);
  const grown = { ...timeline, requests, usage: usage ? [...timeline.usage, usage] : timeline.usage };
  const turn = timeline.turns.at(-1);
  if (!turn) return grown;
  const spans = foldSpans(turn.spans, event, at);
  const isShown = spans !== turn.spans || event.type === 'assistant.turn_end';
  const after = { ...turn, spans, end: isShown ? at : turn.end };
  return { ...grown, turns: [...timeline.turns.slice(0, -1), after] };
}

function withTurn(timeline: Timeline, eventId: string, prompt: string, at: number): Timeline {
  return { ...timeline, turns: [...timeline.turns, { eventId, prompt, start: at, end: at, spans: [] }] };
}

function usageOf(event: SessionEvent, at: number): UsagePoint | undefined {
  if (event.type === 'assistant.usage') {
    const { inputTokens = 0, outputTokens = 0, cost } = event.data;
    return { at, inputTokens, outputTokens, cost: cost ?? 0 };
  }
  return undefined;
}

function foldSpans(spans: readonly Span[], event: SessionEvent, at: number): readonly Span[] {
  const { agentId } = event;
  const open = (id: string, kind: Span['kind'], label: string): readonly Span[] => [
    ...spans,
    {
      id,
      kind,
      label,
      start: at,
      end: undefined,
      isFailed: false,
      agentId,
      inputTokens: 0,
      outputTokens: 0,
      cost: 0,
    },
  ];
  const change = (isIt: (span: Span) => boolean, changed: Partial<Span>): readonly Span[] => {
    const index = spans.findLastIndex(isIt);
    const span = spans[index];
    return span ? spans.with(index, { ...span, ...changed }) : spans;
  };
  switch (event.type) {
    case 'assistant.turn_start':
      return open(event.id, 'model', 'model call');
    case 'assistant.usage':
      return change(isModelOf(agentId), usedBy(event.data));
    case 'assistant.message':
      return change(isModelOf(agentId), answered(event.data, spans.findLast(isModelOf(agentId)), at));
    case 'assistant.turn_end':
      return change((span) => isModelOf(agentId)(span) && span.end === undefined, { end: at });
    case 'tool.execution_start':
      return open(event.data.toolCallId, 'tool', event.data.toolName);
    case 'tool.execution_complete':
      return change(({ id }) => id === event.data.toolCallId, { end: at, isFailed: !event.data.success });
    case 'hook.start':
      return open(event.data.hookInvocationId, 'hook', event.data.hookType);
    case 'hook.end':
      return change(({ id }) => id === event.data.hookInvocationId, {
        end: at,
        isFailed: !event.data.success,
      });
    case 'subagent.started':
      return open(
        `agent ${event.data.toolCallId}`,
        'agent',
        event.data.agentDisplayName || event.data.agentName,
      );
    case 'subagent.completed':
    case 'subagent.failed':
      return change(({ id }) => id === `agent ${event.data.toolCallId}`, {
        end: at,
        isFailed: event.type === 'subagent.failed',
      });
    default:
      return spans;
  }
}

function usedBy({
  inputTokens = 0,
  outputTokens = 0,
  cost,
  model,
}: EventData<'assistant.usage'>): Partial<Span> {
  return { inputTokens, outputTokens, cost: cost ?? 0, label: model };
}

function answered(
  { outputTokens, model }: EventData<'assistant.message'>,
  known: Span | undefined,
  at: number,
): Partial<Span> {
  return {
    end: at,
    label: model ?? known?.label ?? 'model call',
    outputTokens: outputTokens ?? known?.outputTokens ?? 0,
  };
}

function isModelOf(agentId: string | undefined): (span: Span) => boolean {
  return (span) => span.kind === 'model' && span.agentId === agentId;
}
