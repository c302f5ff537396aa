import type { Approval, PermissionPrompt, PermissionRequest } from '@groundcrew/protocol';

/** What a permission handler may answer, and nothing else: a misspelt kind does not compile. */
export type PermissionRequestResult =
  /** This call runs. */
  | { readonly kind: 'approve-once' }
  /** This call and others like it run in this session. */
  | { readonly kind: 'approve-for-session'; readonly approval: Approval }
  /** Addresses of this host are fetched in this session. */
  | { readonly kind: 'approve-for-session'; readonly domain: string }
  /** This call and others like it run in every session of the place. */
  | { readonly kind: 'approve-for-location'; readonly approval: Approval; readonly locationKey: string }
  /** Addresses of this host are fetched in every session. */
  | { readonly kind: 'approve-permanently'; readonly domain: string }
  /** Denied. With feedback the model reads it and goes on, without it the turn ends. */
  | { readonly kind: 'reject'; readonly feedback?: string; readonly forceReject?: boolean }
  /** Denied: no user could be asked. */
  | { readonly kind: 'user-not-available' }
  /** Nothing is sent, and the question is left to other clients. */
  | { readonly kind: 'no-result' };

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

/** Approves every call, except those that managed settings reserve for users. */
export const approveAll: PermissionHandler = (request) =>
  request.managedApprovalRequired ? { kind: 'no-result' } : { kind: 'approve-once' };

/** Ready-made handlers. */
export const PermissionHandler = {
  /** Approves every call, except those that managed settings reserve for users. */
  approveAll,
  /** Approves calls of these kinds; others are rejected, and the model reads that. */
  approveKinds(...kinds: readonly PermissionRequest['kind'][]): PermissionHandler {
    return (...question) =>
      kinds.includes(question[0].kind)
        ? approveAll(...question)
        : { kind: 'reject', feedback: `${question[0].kind} is not permitted here` };
  },
  /** Rejects every call; with feedback the model reads why and the turn goes on, without it the turn ends. */
  rejectAll(feedback?: string): PermissionHandler {
    return () => ({ kind: 'reject', ...(feedback !== undefined && { feedback }) });
  },
  /** Answers nothing: some other client does. */
  leaveToOthers: (() => ({ kind: 'no-result' })) as PermissionHandler,
} as const;
