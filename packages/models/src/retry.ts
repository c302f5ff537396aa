import { setTimeout as wait } from 'node:timers/promises';
import { ModelError, restate } from './errors.js';
import type { ModelInfo, ModelProvider } from './model.js';

export interface FailedAttempt {
  readonly error: ModelError;
  /** 1 for the first. */
  readonly attempt: number;
  /** What was waited before this attempt, in all. */
  readonly waitedMs: number;
}

/** Milliseconds to wait before the call is made again; nothing: give up. */
export type RetryPolicy = (failed: FailedAttempt) => number | undefined;

export interface RetryOptions {
  readonly policy?: RetryPolicy;
  readonly sleep?: (milliseconds: number, signal: AbortSignal) => Promise<unknown>;
  /** Milliseconds that a list of models is waited for. */
  readonly listTimeLimit?: number;
}

/** The same service, asked again when it fails in a way that may pass. A `retry` event voids what came before it. */
export function withRetry(provider: ModelProvider, options: RetryOptions = {}): ModelProvider {
  const { policy = standardRetryPolicy(), sleep = pause } = options;
  const next = (failed: FailedAttempt, signal: AbortSignal): number => {
    const delayMs = signal.aborted ? undefined : policy(failed);
    if (delayMs === undefined) throw withCounts(failed);
    return delayMs;
  };
  return {
    id: provider.id,
    models: (signal) => listModels(provider, { ...options, policy, sleep }, signal),
    async *stream(request, signal) {
      for (let attempt = 1, waitedMs = 0; ; attempt++) {
        try {
          return yield* provider.stream(request, signal);
        } catch (error) {
          if (!(error instanceof ModelError)) throw error;
          const delayMs = next({ error, attempt, waitedMs }, signal);
          yield [{ type: 'retry', error, attempt, delayMs }];
          await sleep(delayMs, signal);
          waitedMs += delayMs;
        }
      }
    },
  };
}

/** A caller that waits for a list gets no progress, so a list is requested twice at most, and not for long. */
async function listModels(
  provider: ModelProvider,
  { policy, sleep, listTimeLimit = 10_000 }: RetryOptions & Required<Pick<RetryOptions, 'policy' | 'sleep'>>,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelInfo[]> {
  const limit = AbortSignal.timeout(listTimeLimit);
  const either = AbortSignal.any([signal, limit]);
  try {
    return await provider.models(either).catch(async (error: unknown) => {
      if (!(error instanceof ModelError) || policy({ error, attempt: 1, waitedMs: 0 }) === undefined)
        throw error;
      const delayMs = error.retryAfter === undefined ? 250 : error.retryAfter * 1000;
      if (delayMs > 1000) throw error;
      await sleep(delayMs, either);
      return provider.models(either);
    });
  } catch (error) {
    if (signal.aborted || !limit.aborted) throw error;
    const text = `The model service did not list its models within ${listTimeLimit / 1000} seconds`;
    throw new ModelError('timeout', text);
  }
}

export interface StandardRetryOptions {
  /** Seconds beyond which a service that asks to wait is not waited for. */
  readonly maxRetryAfter?: number;
  /** Milliseconds waited for one call in all. */
  readonly maxTotalWait?: number;
  /** A number from 0 to 1, so that many clients do not come back at once. */
  readonly random?: () => number;
}

/** Waits longer each time a service is unavailable or busy, and as long as it asks, within reason. */
export function standardRetryPolicy(options: StandardRetryOptions = {}): RetryPolicy {
  const { maxRetryAfter = 60, maxTotalWait = 180_000, random = Math.random } = options;
  return ({ error, attempt, waitedMs }) => {
    if (error.retryAfter !== undefined && error.retryAfter > maxRetryAfter) return undefined;
    const delay = delayOf(error, attempt, random);
    return delay === undefined || waitedMs + delay > maxTotalWait ? undefined : delay;
  };
}

/** For one key that does not change: refused once, it is refused again. */
export function forOneKey(retry: RetryOptions): RetryOptions {
  const { policy = standardRetryPolicy() } = retry;
  return { ...retry, policy: (failed) => (failed.error.kind === 'auth' ? undefined : policy(failed)) };
}

/** How often a call is made again at most. */
export const maxRetries = 5;
const maxBackOff = 10_000;

function delayOf(error: ModelError, attempt: number, random: () => number): number | undefined {
  switch (error.kind) {
    case 'auth':
      return error.statusCode === 401 && attempt < 3 ? 1000 : undefined;
    case 'context_too_long':
      return error.statusCode === 413 && attempt <= maxRetries ? 1000 : undefined;
    case 'rate_limit':
    case 'network':
    case 'timeout':
    case 'unavailable':
      if (attempt > maxRetries) return undefined;
      return error.retryAfter === undefined ? backOff(attempt, random) : error.retryAfter * 1000;
    case 'quota':
    case 'refused':
    case 'bad_request':
    case 'bad_response':
    case 'configuration':
      return undefined;
  }
}

function backOff(attempt: number, random: () => number): number {
  const base = Math.max(1000, 500 * 2 ** (attempt - 1));
  return Math.round(Math.min(maxBackOff, base * (1 + random() / 5)));
}

async function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  try {
    await wait(milliseconds, undefined, { signal });
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  }
}

function withCounts({ error, attempt, waitedMs }: FailedAttempt): ModelError {
  if (attempt === 1) return error;
  return restate(error, { retries: attempt - 1, totalRetryWaitSeconds: waitedMs / 1000 });
}
