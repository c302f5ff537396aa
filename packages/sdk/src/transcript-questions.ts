import type { EventData, SessionEvent } from '@groundcrew/protocol';

/** A question to clients or users that has no answer yet. */
export type TranscriptQuestion = {
  readonly [K in QuestionEvent]: {
    /** The event that asked it. */
    readonly type: K;
    readonly requestId: string;
    /** The tool call that waits for it, where there is one. */
    readonly toolCallId?: string;
    /** It is in no log: a screen that replays one asks the runtime for open questions. */
    readonly isEphemeral: boolean;
    readonly data: EventData<K>;
  };
}[QuestionEvent];

type QuestionEvent =
  | 'permission.requested'
  | 'external_tool.requested'
  | 'user_input.requested'
  | 'elicitation.requested'
  | 'auto_mode_switch.requested'
  | 'exit_plan_mode.requested'
  | 'session_limits_exhausted.requested';

const asking: ReadonlySet<string> = new Set<QuestionEvent>([
  'permission.requested',
  'external_tool.requested',
  'user_input.requested',
  'elicitation.requested',
  'auto_mode_switch.requested',
  'exit_plan_mode.requested',
  'session_limits_exhausted.requested',
]);

/** The question that an event asks. */
export function questionOf(event: SessionEvent): TranscriptQuestion | undefined {
  if (!isQuestion(event)) return undefined;
  if (event.type === 'permission.requested' && event.data.resolvedByHook) return undefined;
  const toolCallId = callOf(event);
  // Type and data come from one event, so they belong together; the compiler sees two unions.
  return {
    type: event.type,
    requestId: event.data.requestId,
    isEphemeral: event.ephemeral === true,
    data: event.data,
    ...(toolCallId !== undefined && { toolCallId }),
  } as TranscriptQuestion;
}

/** Whether an event settles a question, or makes it void. */
export function isQuestionEnd(event: SessionEvent, question: TranscriptQuestion): boolean {
  switch (event.type) {
    case 'permission.completed':
    case 'external_tool.completed':
    case 'user_input.completed':
    case 'elicitation.completed':
    case 'auto_mode_switch.completed':
    case 'exit_plan_mode.completed':
    case 'session_limits_exhausted.completed':
      return event.data.requestId === question.requestId;
    case 'tool.execution_complete':
      return event.data.toolCallId === question.toolCallId;
    case 'abort':
      return true;
    case 'user.message':
      return (
        event.agentId === undefined && event.data.delivery !== 'steering' && question.isEphemeral === false
      );
    default:
      return false;
  }
}

function isQuestion(event: SessionEvent): event is Extract<SessionEvent, { type: QuestionEvent }> {
  return asking.has(event.type);
}

function callOf(event: Extract<SessionEvent, { type: QuestionEvent }>): string | undefined {
  if (event.type === 'permission.requested') return event.data.permissionRequest.toolCallId;
  const { toolCallId } = event.data as { readonly toolCallId?: string };
  return toolCallId;
}
