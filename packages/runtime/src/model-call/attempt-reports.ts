import {
  describeDuration,
  type ModelError,
  type ModelEvent,
  maxRetries,
  type Price,
} from '@groundcrew/models';
import type { LostCall } from '../budget/spending.js';
import type { AgentLog } from '../log/agent-log.js';
import type { ModelCallRequest } from './call-request.js';

/** An attempt that failed. */
export interface Failure {
  readonly log: AgentLog;
  readonly request: Pick<ModelCallRequest, 'model' | 'initiator'>;
  readonly error: ModelError;
  readonly milliseconds: number;
}

/** Reports to clients that one attempt failed. */
export function reportFailure({ log, request, error, milliseconds }: Failure): void {
  const { kind, message, code, statusCode, requestId } = error;
  const isTransport = kind === 'network' || (kind === 'timeout' && statusCode === undefined);
  log.emit({
    type: 'model.call_failure',
    data: {
      source: log.agentId === undefined ? 'top_level' : 'subagent',
      model: request.model,
      failureKind: isTransport ? 'transport' : 'api',
      errorType: kind,
      errorMessage: JSON.stringify({ message, ...(code !== undefined && { code }) }),
      durationMs: Math.max(0, Math.round(milliseconds)),
      initiator: request.initiator,
      ...(statusCode !== undefined && { statusCode }),
      ...(requestId !== undefined && { providerCallId: requestId }),
      ...(code !== undefined && { errorCode: code }),
    },
  });
}

/** Reports to clients that the model is called again, and when. */
export function reportRetry(
  log: AgentLog,
  { error, attempt, delayMs }: Extract<ModelEvent, { type: 'retry' }>,
): void {
  const status = error.statusCode === undefined ? '' : `${error.statusCode} `;
  const seconds = Number((delayMs / 1000).toFixed(1));
  const asked = error.retryAfter ? ', as it asks to' : '';
  const message = `The model service failed (${status}${error.message}). Trying again in ${seconds} s${asked}; this was attempt ${attempt}.`;
  log.emit({ type: 'session.info', ephemeral: true, data: { infoType: 'model_retry', message } });
}

/** Reports to clients that a service asks to wait for longer than we do; it is not called again. */
export function reportPatience(log: AgentLog, { retryAfter, retries }: ModelError): void {
  if (retryAfter === undefined || retryAfter === 0 || retries >= maxRetries) return;
  const message = `The model service asks to wait ${describeDuration(retryAfter)}, which is longer than it is waited for.`;
  log.emit({ type: 'session.info', ephemeral: true, data: { infoType: 'model_retry', message } });
}

/** What came of an attempt before it ended, by which its cost is estimated. */
export interface Attempt {
  readonly estimatedInput: number;
  /** Characters of the answer. */
  readonly size: number;
  readonly price: Price | undefined;
}

/** What such an attempt is thought to have taken. */
export function lossOf({ estimatedInput, size, price }: Attempt): LostCall {
  const output = Math.ceil(size / 4);
  const { input = 0, output: outputPrice = 0 } = price ?? {};
  return {
    tokens: estimatedInput + output,
    cost: (estimatedInput * input + output * outputPrice) / 1_000_000,
  };
}
