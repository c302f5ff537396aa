import type { FailureCode } from '@groundcrew/protocol';
import { StoreError } from '@groundcrew/store';
import { storeFailureCode } from './agents/session-error.js';
import { UnknownDecision } from './permissions/decision.js';
import { UnfitForm } from './questions/form.js';
import { ToolClash } from './session/audience.js';
import { QueueFull } from './session/inbox.js';
import { MessageIdReused } from './session/receipts.js';
import { NoSuchDirectory } from './workspace/check-directory.js';

/** Why a request to the runtime failed, as its client reads it; without a code where the message says it all. */
export interface RequestFailure {
  readonly code?: FailureCode;
  readonly message: string;
}

/** Describes any error that a request ended with. */
export function requestFailure(error: unknown): RequestFailure {
  const code = codeOf(error);
  return { message: messageOf(error), ...(code && { code }) };
}

function messageOf(error: unknown): string {
  if (error instanceof NoSuchDirectory) return `session construction failed: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}

function codeOf(error: unknown): FailureCode | undefined {
  if (error instanceof StoreError) return storeFailureCode(error);
  if (error instanceof UnknownDecision) return 'unknown_decision';
  if (error instanceof UnfitForm) return 'answer_unfit';
  if (error instanceof ToolClash) return 'tool_name_taken';
  if (error instanceof QueueFull) return 'overloaded';
  if (error instanceof MessageIdReused) return 'message_id_reused';
  return undefined;
}
