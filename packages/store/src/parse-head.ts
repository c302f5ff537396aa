import type { SessionHead } from './session-store.js';

/** A head as it was written; throws when the text is none. */
export function parseHead(json: string): SessionHead {
  const head = JSON.parse(json) as SessionHead | null;
  if (typeof head?.modifiedAt !== 'string' || typeof head.context?.cwd !== 'string')
    throw new SyntaxError('it is no head');
  return head;
}
