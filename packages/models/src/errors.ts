export type ModelErrorKind =
  /** The service does not know who asks, or does not let them. */
  | 'auth'
  /** Nothing is left to spend; waiting does not help. */
  | 'quota'
  | 'rate_limit'
  /** The conversation does not fit into the model. */
  | 'context_too_long'
  /** The service will not answer this, whatever the model would say. */
  | 'refused'
  | 'bad_request'
  /** The service could not be reached, or was lost on the way. */
  | 'network'
  /** Something took longer than it may. */
  | 'timeout'
  /** The service is there and does not manage. */
  | 'unavailable'
  /** The answer is not what the wire promises. */
  | 'bad_response'
  | 'configuration';

export interface ModelErrorDetails extends ErrorOptions {
  readonly statusCode?: number | undefined;
  /** The service's own id for the failed call. */
  readonly requestId?: string | undefined;
  /** The service's own code for what went wrong. */
  readonly code?: string | undefined;
  /** Seconds the service asks to wait. */
  readonly retryAfter?: number | undefined;
  /** How often the call was repeated before this failure was the last. */
  readonly retries?: number | undefined;
  readonly totalRetryWaitSeconds?: number | undefined;
}

/** Every failure of a model service. The message never contains a secret. */
export class ModelError extends Error {
  override readonly name = 'ModelError';
  readonly statusCode: number | undefined;
  readonly requestId: string | undefined;
  readonly code: string | undefined;
  readonly retryAfter: number | undefined;
  readonly retries: number;
  readonly totalRetryWaitSeconds: number;

  constructor(
    readonly kind: ModelErrorKind,
    message: string,
    details: ModelErrorDetails = {},
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.statusCode = details.statusCode;
    this.requestId = details.requestId;
    this.code = details.code;
    this.retryAfter = details.retryAfter;
    this.retries = details.retries ?? 0;
    this.totalRetryWaitSeconds = details.totalRetryWaitSeconds ?? 0;
  }
}

/** The same failure with more known about it. */
export function restate(
  error: ModelError,
  changes: ModelErrorDetails & { readonly message?: string },
): ModelError {
  const { message = error.message, ...details } = changes;
  const { statusCode, requestId, code, retryAfter, retries, totalRetryWaitSeconds, cause } = error;
  const known = { statusCode, requestId, code, retryAfter, retries, totalRetryWaitSeconds, cause };
  return new ModelError(error.kind, message, { ...known, ...details });
}

/** What users read about a failure: its status, the service's words, and the id to quote when asking for help. */
export function describeFailure(error: ModelError): string {
  const requestId = error.requestId === undefined ? '' : ` (Request ID: ${error.requestId})`;
  if (error.kind === 'auth' || error.kind === 'quota') return `${error.message}${requestId}`;
  if (error.kind === 'rate_limit' && error.code?.endsWith('rate_limited')) return describeRateLimit(error);
  const last = error.statusCode === undefined ? error.message : `${error.statusCode} ${error.message}`;
  if (error.retries === 0) return `${last}${requestId}`;
  return [
    `Failed to get response from the AI model; retried ${error.retries} times`,
    `(total retry wait time: ${error.totalRetryWaitSeconds.toFixed(2)} seconds)`,
    ...(error.requestId === undefined ? [] : [`(Request-ID ${error.requestId})`]),
    `Last error: ${last}`,
  ].join(' ');
}

function describeRateLimit(error: ModelError): string {
  const limit = error.code?.includes('weekly') ? 'weekly rate limit' : 'rate limit';
  const reset = error.retryAfter === undefined ? '' : ` in ${describeDuration(error.retryAfter)}`;
  return `You've reached your ${limit}. Please wait for your limit to reset${reset} or switch to auto mode to continue.`;
}

const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** Seconds in words; the two largest units are enough to plan by. */
export function describeDuration(seconds: number): string {
  let rest = Math.max(1, Math.ceil(seconds));
  const words: string[] = [];
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) words.push(`${count} ${unit}${count === 1 ? '' : 's'}`);
  }
  return words.slice(0, 2).join(' ');
}
