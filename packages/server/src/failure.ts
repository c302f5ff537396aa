import { errorCodes, type FailureCode, failureCodes } from '@groundcrew/protocol';
import type { ErrorObject } from '@groundcrew/rpc';
import {
  MessageIdReused,
  NoSuchDirectory,
  QueueFull,
  storeFailureCode,
  ToolClash,
  UnfitForm,
  UnknownDecision,
} from '@groundcrew/runtime';
import { StoreError } from '@groundcrew/store';

/** The words in which every failing request is answered. */
export function describeFailedRequest(method: string, error: unknown): ErrorObject {
  const code = failureCodeOf(error);
  return {
    code: errorCodes.requestFailed,
    message: failedText(method, detailOf(error)),
    ...(code && { data: { code, retryable: failureCodes[code].retryable } }),
  };
}

export function failedText(method: string, detail: string): string {
  return `Request ${method} failed with message: ${detail}`;
}

/** A request that cannot be done, in the words clients know; the name of its method is put before them. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** The session that a request names is not open. */
export class SessionNotFound extends Error {
  override readonly name = 'SessionNotFound';
}

function detailOf(error: unknown): string {
  if (error instanceof NoSuchDirectory) return `session construction failed: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function failureCodeOf(error: unknown): FailureCode | undefined {
  if (error instanceof SessionNotFound) return 'session_not_found';
  if (error instanceof StoreError) return storeFailureCode(error);
  if (error instanceof UnknownDecision) return 'unknown_decision';
  if (error instanceof UnfitForm) return 'answer_unfit';
  if (error instanceof ToolClash) return 'tool_name_taken';
  if (error instanceof QueueFull) return 'overloaded';
  if (error instanceof MessageIdReused) return 'message_id_reused';
  return undefined;
}
