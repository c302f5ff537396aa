/** What went wrong with a call. */
export type HttpErrorKind =
  /** The connection broke while the request was on its way. */
  | 'network'
  /** A step took longer than it may. */
  | 'timeout'
  /** The answer is no HTTP. */
  | 'bad_response'
  /** The proxy refused. */
  | 'unavailable'
  /** A header, an address or a proxy that cannot be used. */
  | 'configuration';

/** A call that failed in a way that this client can name; the rest are the errors of Node's sockets. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: string | undefined;
  /** Seconds after which the same call may be made again. */
  readonly retryAfter: number | undefined;

  constructor(
    readonly kind: HttpErrorKind,
    message: string,
    details: { readonly code?: string; readonly retryAfter?: number; readonly cause?: unknown } = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = details.code;
    this.retryAfter = details.retryAfter;
  }
}
