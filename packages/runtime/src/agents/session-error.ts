import { describeFailure, ModelError } from '@groundcrew/models';
import type { EventData, FailureCode } from '@groundcrew/protocol';
import { StoreError, type StoreErrorKind } from '@groundcrew/store';
import { LimitsExhausted } from '../model-call/allowance.js';
import { ToolConflict } from '../tools/toolset.js';
import { OutputInvalid } from '../turn/structured-output.js';

type SessionErrorData = EventData<'session.error'>;

/** What clients receive about an error that ended a turn. */
export function errorData(error: unknown): SessionErrorData {
  if (error instanceof ModelError) return modelErrorData(error);
  if (error instanceof StoreError)
    return { errorType: 'storage', message: error.message, errorCode: storeFailureCode(error) };
  if (error instanceof LimitsExhausted)
    return { errorType: 'session_limits', message: error.message, errorCode: 'session_limits_exhausted' };
  if (error instanceof OutputInvalid)
    return { errorType: 'structured_output', message: error.message, lastText: error.lastText };
  if (error instanceof ToolConflict) {
    return {
      errorType: 'query',
      message: `Execution failed: tool initialization before the turn failed: GenericFailure, ${error.message}`,
    };
  }
  const message = error instanceof Error ? error.message : String(error);
  return { errorType: 'query', message: `Execution failed: ${message}` };
}

/** The code of a failure of the store, in answers to requests and in events. */
export function storeFailureCode({ kind }: StoreError): FailureCode {
  return storeCodes[kind];
}

const storeCodes: Readonly<Record<StoreErrorKind, FailureCode>> = {
  unknown_session: 'session_not_found',
  in_use: 'session_in_use',
  stale_owner: 'session_taken_over',
  seq_conflict: 'session_taken_over',
  busy: 'store_busy',
  full: 'store_full',
  read_only: 'store_read_only',
  damaged: 'store_damaged',
  newer_schema: 'store_newer',
  io: 'store_failed',
};

function modelErrorData(error: ModelError): SessionErrorData {
  const { errorType, message } = describe(error);
  return {
    errorType,
    message,
    ...(error.statusCode !== undefined && { statusCode: error.statusCode }),
    ...(error.requestId !== undefined && { providerCallId: error.requestId }),
    ...(error.code !== undefined && { errorCode: error.code }),
    ...(error.kind === 'rate_limit' && { eligibleForAutoSwitch: true }),
  };
}

function describe(error: ModelError): { errorType: string; message: string } {
  const text = describeFailure(error);
  switch (error.kind) {
    case 'auth':
      return { errorType: 'authorization', message: text };
    case 'quota':
      return { errorType: 'quota', message: text };
    case 'rate_limit':
      return { errorType: 'rate_limit', message: text };
    case 'configuration':
      return { errorType: 'configuration', message: error.message };
    default:
      return { errorType: 'query', message: `Execution failed: ${text}` };
  }
}
