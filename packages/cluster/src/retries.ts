import { RpcError } from '@groundcrew/rpc';
import { type SessionNeeds, StoreError } from '@groundcrew/store';

/** The node is gone, or the way to it. */
export function isLinkLost(error: unknown): boolean {
  return codeOf(error) === 'connection_closed';
}

/** The session is, or may be, at another node by now: its node has to be looked up again. */
export function isElsewhere(error: unknown): boolean {
  const code = codeOf(error);
  const isEnding = error instanceof RpcError && error.message === shuttingDown;
  return isEnding || code === 'session_in_use' || code === 'session_taken_over';
}

/** The message of errors of a runtime that is shutting down. */
const shuttingDown = 'SERVER_SHUTTING_DOWN';

/** The node that was asked does not have the session open. */
export function isNotFound(error: unknown): boolean {
  return codeOf(error) === 'session_not_found';
}

/** The store or the node may answer a little later. */
export function mayPass(error: unknown): boolean {
  if (isElsewhere(error)) return true;
  // This node asks the store itself where a session is.
  if (error instanceof StoreError) return error.kind === 'busy' || error.kind === 'io';
  if (!(error instanceof RpcError)) return false;
  const { retryable } = (error.data ?? {}) as { readonly retryable?: unknown };
  return retryable === true || codeOf(error) === 'store_failed';
}

function codeOf(error: unknown): unknown {
  if (!(error instanceof RpcError)) return undefined;
  return ((error.data ?? {}) as { readonly code?: unknown }).code;
}

/**
 * Whether a request may be sent again after its node was lost without an answer: it changes nothing, says what is to be
 * so from then on, or carries an id by which the second is recognised.
 */
export function isRepeatable(name: string): boolean {
  return repeatable.has(name) || repeatableEnds.test(name);
}

/** What a client answers is given once: it waits until the store or the node that asked is back. */
export function isAnswer(name: string): boolean {
  return /\.handlePending\w+$/.test(name);
}

const repeatable: ReadonlySet<string> = new Set([
  'session.abort',
  'session.create',
  'session.delete',
  'session.destroy',
  'session.detach',
  'session.resume',
  'session.send',
  'session.suspend',
  'session.queue.clear',
  'session.history.compact',
  'session.eventLog.read',
  'session.eventLog.tail',
  'session.model.switchTo',
  'session.options.update',
  'session.provider.add',
  'session.provider.update',
  'session.shell.kill',
  'session.tasks.cancel',
  'session.tasks.waitForPending',
  'session.schedule.stop',
  'sessions.close',
  'sessions.delete',
  'sessions.open',
  'sessions.save',
]);

const repeatableEnds =
  /\.(?:activity|contextInfo|diff|disable|enable|exists|handlePending\w+|isProcessing|pending|pendingItems|pendingRequests|read|readFile|reload|resolve|respond\w*|select|deselect|set|snapshot|update|apply|configure|(?:get|list|set|is|read|reset)[A-Z]?\w*)$/;

/** What a client reads of a request that may have been done, and may not be sent again. */
export function outcomeUnknown(name: string): RpcError {
  return new RpcError(
    -32_000,
    `The node that worked on ${name} was lost before it answered: whether it was done is not known.`,
    { code: 'outcome_unknown', retryable: false },
  );
}

/** What a client reads when the node that owns the session cannot be reached for long. */
export function unreachable(sessionId: string, reason: string): RpcError {
  return new RpcError(-32_000, `The node that has session ${sessionId} cannot be reached now: ${reason}`, {
    code: 'node_unreachable',
    retryable: true,
  });
}

/** What a client reads whose session no live node can work on. */
export function noNodeHas({ labels = [], providerRef }: SessionNeeds): RpcError {
  const parts = [
    ...(labels.length > 0 ? [`has the labels that the session needs: ${labels.join(', ')}`] : []),
    ...(providerRef === undefined
      ? []
      : [`knows the provider that the session names: ${JSON.stringify(providerRef)}`]),
  ];
  return new RpcError(-32_000, `No live node ${parts.join(', and ')}`, {
    code: 'node_unreachable',
    retryable: true,
  });
}
