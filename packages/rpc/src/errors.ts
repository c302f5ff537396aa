import type { RequestId } from './message.js';

/** The codes JSON-RPC 2.0 reserves, its range for servers, and the one editors use for a cancelled request. */
export const ErrorCode = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  server: -32000,
  cancelled: -32800,
} as const;

/** The only error that crosses the wire with its code, message and data intact. */
export class RpcError extends Error {
  override readonly name = 'RpcError';

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
  ) {
    super(message);
  }
}

/** Where a peer's bytes stopped being a message: `truncated` is an end in the middle of a frame. */
export type FramingErrorKind = 'header' | 'too_large' | 'too_deep' | 'json' | 'message' | 'truncated';

/** The peer sent what is no message; nothing that follows on its stream can be trusted. */
export class FramingError extends Error {
  override readonly name = 'FramingError';

  constructor(
    readonly kind: FramingErrorKind,
    message: string,
    /** The id the peer gave its message, where one could be read, so that the refusal can name it. */
    readonly id: RequestId = null,
  ) {
    super(message);
  }
}
