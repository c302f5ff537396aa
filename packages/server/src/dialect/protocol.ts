import type { OpenParams } from './client-age.js';

/** A version of the protocol. Up to 2 a client is asked by requests, from 3 on by events that it answers with a method. */
export type Protocol = 1 | 2 | 3;

/** A `session.create` or `session.resume`, as far as it shows which protocol a client speaks. */
export interface Opening {
  readonly params: OpenParams;
  readonly isResume: boolean;
  /** A client of 0.2.x created the session. */
  readonly isOfNewer: boolean;
}

/**
 * The protocol of a client whose first request was `ping`, and that was answered 2. Releases 0.1.32 to 0.3.0 accept
 * that and serve requests as well as events; those up to 0.1.30 know requests only, so requests are right in case of
 * doubt. Of the marks of later releases, an id for a new session is the one that 0.2 has in all languages: it makes a
 * UUID where the app names none, and 0.1 sends only what its app names.
 */
export function protocolOf({ params, isResume, isOfNewer }: Opening): Protocol {
  const { sessionId } = params;
  if (isResume) return isOfNewer ? 3 : 2;
  if (!sessionId) return 2;
  return isUuid(sessionId) || !isOfficial(params) ? 3 : 2;
}

/** Whether a client sends something that no release of protocol 2 sends. */
export function isOfProtocol3({
  toolFilterPrecedence,
  includeSubAgentStreamingEvents,
  continuePendingWork,
}: OpenParams): boolean {
  const marks = [toolFilterPrecedence, includeSubAgentStreamingEvents, continuePendingWork];
  return marks.some((mark) => mark !== undefined);
}

/** Published clients say at every create how values of the environment are meant, or which switches are off. */
function isOfficial({ envValueMode, requestUserInput, hooks }: OpenParams): boolean {
  return envValueMode !== undefined || requestUserInput === false || hooks === false;
}

function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
