import type { SessionEvent } from '@groundcrew/sdk/browser';

/** One bar of the waterfall. */
export interface Span {
  readonly id: string;
  readonly kind: 'model' | 'tool' | 'hook' | 'agent';
  readonly label: string;
  readonly start: number;
  readonly end: number | undefined;
  readonly isFailed: boolean;
  readonly agentId: string | undefined;
  /** The answer of a model call. */
  readonly answerId?: string;
}

/** A prompt and all that followed from it. */
export interface Turn {
  readonly eventId: string;
  readonly prompt: string;
  readonly start: number;
  readonly end: number;
  readonly spans: readonly Span[];
}

/** The turns after one more event; the same list grows. */
export function foldTurns(turns: Turn[], event: SessionEvent): void {
  const at = Date.parse(event.timestamp);
  if (event.type === 'user.message' && event.agentId === undefined) {
    turns.push({ eventId: event.id, prompt: event.data.content, start: at, end: at, spans: [] });
    return;
  }
  const turn = turns.at(-1);
  if (!turn) return;
  const spans = foldSpans(turn.spans, event, at);
  if (spans === turn.spans && event.type !== 'assistant.turn_end') return;
  turns[turns.length - 1] = { ...turn, spans, end: at };
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
    case 'assistant.message':
      return change(isModelOf(agentId), {
        end: at,
        answerId: event.id,
        ...(event.data.model !== undefined && { label: event.data.model }),
      });
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

function isModelOf(agentId: string | undefined): (span: Span) => boolean {
  return (span) => span.kind === 'model' && span.agentId === agentId;
}
