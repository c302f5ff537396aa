import type { PermissionDecision, PermissionPrompt, PermissionRequest } from '@groundcrew/protocol';

/** A decision, or `no-result`: nothing is sent, and the question is left to other clients. */
export type PermissionRequestResult = PermissionDecision | { readonly kind: 'no-result' };

/** Which question it is. */
export interface PermissionInvocation {
  readonly sessionId: string;
  readonly requestId: string;
  /** How a dialogue shows it: a place outside the allowed directories is a question of its own, before the request. */
  readonly promptRequest?: PermissionPrompt;
}

/**
 * Decides whether a tool call may run. One that throws denies.
 * The signal fires when the question is no longer open: another client answered, or the turn was stopped.
 */
export type PermissionHandler = (
  request: PermissionRequest,
  invocation: PermissionInvocation,
  signal: AbortSignal,
) => PermissionRequestResult | Promise<PermissionRequestResult>;

/** Approves every call, except those that managed settings reserve for people. */
export const approveAll: PermissionHandler = (request) =>
  request.managedApprovalRequired ? { kind: 'no-result' } : { kind: 'approve-once' };

/** Ready-made handlers. */
export const PermissionHandler = {
  /** Approves every call, except those that managed settings reserve for people. */
  approveAll,
  /** Approves calls of these kinds; others are rejected, and the model is told so. */
  approveKinds(...kinds: readonly PermissionRequest['kind'][]): PermissionHandler {
    return (...question) =>
      kinds.includes(question[0].kind)
        ? approveAll(...question)
        : { kind: 'reject', feedback: `${question[0].kind} is not permitted here` };
  },
  /** Rejects every call; with feedback the model is told why and the turn goes on, without it the turn ends. */
  rejectAll(feedback?: string): PermissionHandler {
    return () => ({ kind: 'reject', ...(feedback !== undefined && { feedback }) });
  },
  /** Answers nothing: some other client does. */
  leaveToOthers: (() => ({ kind: 'no-result' })) as PermissionHandler,
} as const;
