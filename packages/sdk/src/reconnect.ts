import { setTimeout as delay } from 'node:timers/promises';
import { errorCodes } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import { GroundcrewError } from './errors.js';

/** How long something is tried again. */
export interface Patience {
  /** In milliseconds. */
  readonly timeout: number;
  /** Whether a later attempt would fail with the same error. */
  isFinal(error: unknown): boolean;
}

/**
 * Tries until an attempt succeeds, with longer and longer pauses. Rejects with the last error once the time is up, and
 * with a final error at once. Each attempt gets a signal that ends it.
 */
export async function untilReached<T>(
  attempt: (signal: AbortSignal) => Promise<T>,
  { timeout, isFinal }: Patience,
  signal: AbortSignal,
): Promise<T> {
  const deadline = performance.now() + timeout;
  for (let failed = 0; ; failed += 1) {
    const left = Math.max(1, deadline - performance.now());
    const limit = AbortSignal.any([signal, AbortSignal.timeout(Math.min(attemptMs, Math.ceil(left)))]);
    try {
      return await attempt(limit);
    } catch (error) {
      signal.throwIfAborted();
      const pause = pauseAfter(failed);
      if (isFinal(error) || performance.now() + pause >= deadline) throw error;
      await delay(pause, undefined, { signal });
    }
  }
}

/** An attempt that says nothing for so long has failed. */
const attemptMs = 10_000;
const shortestPauseMs = 50;
const longestPauseMs = 2_000;

/** Many clients of one server do not come back in the same moment. */
function pauseAfter(failed: number): number {
  const longest = Math.min(longestPauseMs, shortestPauseMs * 2 ** Math.min(failed, 10));
  return longest * (0.5 + Math.random() / 2);
}

/** Of a connection: the runtime is there and refuses it, or the options make no sense. */
export function isFinalForConnection(error: unknown): boolean {
  if (error instanceof RpcError) return !isRetryable(error);
  return error instanceof GroundcrewError && finalKinds.has(error.kind);
}

/** Of a session: the runtime does not say that it may open it a little later. */
export function isFinalForSession(error: unknown): boolean {
  return !(error instanceof RpcError) || !isRetryable(error);
}

const finalKinds: ReadonlySet<string> = new Set(['protocol_mismatch', 'invalid_option', 'runtime_not_found']);

function isRetryable({ code, data }: RpcError): boolean {
  if (code === errorCodes.serverShuttingDown) return true;
  return typeof data === 'object' && data !== null && 'retryable' in data && data.retryable === true;
}
