import { RpcError } from '@groundcrew/rpc';

/** Why something failed on this side of the wire. What the runtime itself refuses is an RpcError. */
export type GroundcrewErrorKind =
  /** No runtime could be found to start. */
  | 'runtime_not_found'
  /** The runtime did not start, or nothing listens at the address. */
  | 'start_failed'
  /** The runtime speaks another version of the protocol. */
  | 'protocol_mismatch'
  /** The runtime or the way to it is gone. */
  | 'connection_lost'
  /** The session is not, or no longer, open here. */
  | 'session_not_found'
  /** The turn that was waited for failed. */
  | 'session_error'
  /** The wait was over before the turn was. */
  | 'timeout'
  /** A tool's result reached no runtime that waits for it. */
  | 'not_delivered'
  /** The model gave no answer of the form that was asked for. */
  | 'output_invalid'
  /** What was asked for makes no sense. */
  | 'invalid_option';

/** Every error of the SDK's own making; `kind` distinguishes them. */
export class GroundcrewError extends Error {
  override readonly name = 'GroundcrewError';
  /** Of a `send` whose answer was lost: send again with this id after resuming, and it is one turn. */
  declare readonly messageId?: string;

  constructor(
    readonly kind: GroundcrewErrorKind,
    message: string,
    options: { readonly cause?: unknown; readonly messageId?: string } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    if (options.messageId !== undefined) this.messageId = options.messageId;
  }
}

/** The model gave no answer of the form that was asked for, although it was asked again. */
export class OutputError extends GroundcrewError {
  constructor(
    message: string,
    /** The model's last answer. */
    readonly lastText: string,
  ) {
    super('output_invalid', message);
  }
}

/** The words every call on a closed session fails with. */
export function sessionNotFound(sessionId: string): GroundcrewError {
  return new GroundcrewError('session_not_found', `Session not found: ${sessionId}`);
}

/** Whether the runtime, or the way to it, was lost. */
export function isConnectionLost(error: unknown): error is GroundcrewError {
  return error instanceof GroundcrewError && error.kind === 'connection_lost';
}

/** Whether a request failed because the runtime that would answer is gone. */
export function isConnectionClosed(error: unknown): boolean {
  if (!(error instanceof RpcError) || typeof error.data !== 'object' || error.data === null) return false;
  return 'code' in error.data && error.data.code === 'connection_closed';
}

/** What was thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
