import { type EventData, errorCodes, type SessionEvent } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { Call } from './wire.js';

/** A question that waits for an answer, of whatever kind. */
export type PendingQuestion =
  | PendingPermission
  | PendingToolCall
  | PendingUserInput
  | PendingSessionLimits
  | PendingExitPlanMode
  | PendingModelSwitch
  | PendingElicitation;

/** Users are asked what follows a plan. */
export interface PendingExitPlanMode {
  readonly kind: 'exit_plan_mode';
  readonly requestId: string;
  readonly toolCallId: string;
  /** What `exit_plan_mode.requested` said. */
  readonly data: EventData<'exit_plan_mode.requested'>;
}

/** Users are asked whether another model may answer. */
export interface PendingModelSwitch {
  readonly kind: 'auto_mode_switch';
  readonly requestId: string;
  /** It belongs to no call. */
  readonly toolCallId: '';
  /** What `auto_mode_switch.requested` said. */
  readonly data: EventData<'auto_mode_switch.requested'>;
}

/** A form, or a page to visit, is shown to users. */
export interface PendingElicitation {
  readonly kind: 'elicitation';
  readonly requestId: string;
  /** The call during which it was asked; empty when an app asked. */
  readonly toolCallId: string;
  /** What `elicitation.requested` said. */
  readonly data: EventData<'elicitation.requested'>;
}

/** Clients are asked whether a tool call may run. */
export interface PendingPermission {
  readonly kind: 'permission';
  readonly requestId: string;
  readonly toolCallId?: string;
  /** What `permission.requested` said. */
  readonly data: EventData<'permission.requested'>;
}

/** Some client is asked to run one of its tools. */
export interface PendingToolCall {
  readonly kind: 'external_tool';
  readonly requestId: string;
  readonly toolCallId: string;
  /** What `external_tool.requested` said. */
  readonly data: EventData<'external_tool.requested'>;
}

/** The agent asks the user. */
export interface PendingUserInput {
  readonly kind: 'user_input';
  readonly requestId: string;
  readonly toolCallId: string;
  /** What `user_input.requested` said. */
  readonly data: EventData<'user_input.requested'>;
}

/** Users are asked how a session continues that has reached a limit. */
export interface PendingSessionLimits {
  readonly kind: 'session_limits';
  readonly requestId: string;
  /** It belongs to no call. */
  readonly toolCallId: '';
  /** What `session_limits_exhausted.requested` said. */
  readonly data: EventData<'session_limits_exhausted.requested'>;
}

/** The open questions of a session, the oldest first; of a runtime without such a list they are read from its log. */
export async function pendingQuestions(call: Call, sessionId: string): Promise<readonly PendingQuestion[]> {
  try {
    const { items } = await call('session.questions.pending', { sessionId });
    return items as readonly PendingQuestion[]; // each kind comes with the data of its event
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== errorCodes.methodNotFound) throw error;
    const { events } = await call('session.getMessages', { sessionId });
    return openQuestions(events as readonly SessionEvent[]); // what the runtime stores, it names as the table does
  }
}

/** The questions that a log leaves open. */
function openQuestions(events: readonly SessionEvent[]): readonly PendingQuestion[] {
  const open = new Map<string, PendingQuestion>();
  for (const event of events) {
    const question = questionOf(event);
    if (question) open.set(question.requestId, question);
    else for (const each of open.values()) if (isEnd(event, each)) open.delete(each.requestId);
  }
  return [...open.values()];
}

function questionOf({ type, data }: SessionEvent): PendingQuestion | undefined {
  if (type === 'external_tool.requested') {
    const { requestId, toolCallId } = data;
    return { kind: 'external_tool', requestId, toolCallId, data };
  }
  if (type !== 'permission.requested' || data.resolvedByHook) return undefined;
  const { requestId, permissionRequest } = data;
  const { toolCallId } = permissionRequest;
  return { kind: 'permission', requestId, ...(toolCallId !== undefined && { toolCallId }), data };
}

function isEnd(event: SessionEvent, { requestId, toolCallId }: PendingQuestion): boolean {
  switch (event.type) {
    case 'external_tool.completed':
    case 'permission.completed':
      return event.data.requestId === requestId;
    case 'tool.execution_complete':
      return event.data.toolCallId === toolCallId;
    case 'abort':
    case 'assistant.turn_end':
      return event.agentId === undefined;
    case 'user.message':
      return event.agentId === undefined && event.data.delivery !== 'steering';
    case 'session.resume':
      return !event.data.sessionWasActive && !event.data.continuePendingWork;
    default:
      return false;
  }
}
