import { errorCodes, failureCodes } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import type { Session } from '@groundcrew/runtime';
import { failedText } from './failure.js';
import type { CallContext } from './handler.js';

/** The live session of that id, or the error that says there is none. */
export function findSession(method: string, sessionId: string, { runtime }: CallContext): Session {
  const session = runtime.find(sessionId);
  if (!session) throw noSession(method, `Session not found for sessionId: ${sessionId}`);
  return session;
}

export function noSession(method: string, detail: string): RpcError {
  const { retryable } = failureCodes.session_not_found;
  return new RpcError(errorCodes.requestFailed, failedText(method, detail), {
    code: 'session_not_found',
    retryable,
  });
}
