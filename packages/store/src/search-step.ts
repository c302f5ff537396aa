import type { LogRecord, SearchHit, SearchRequest } from './session-store.js';

/** A part of a search in a file of sessions, done by a process that serves no client. */
export interface SearchStepRequest extends Pick<SearchRequest, 'words' | 'limit'> {
  /** The store's database. */
  readonly file: string;
  /** About how long sessions are read that no search has read before. */
  readonly milliseconds: number;
}

/** What a step of a search came to. */
export interface SearchStep {
  /** Sessions that are still to be read. */
  readonly unread: number;
  /** What was found; empty while sessions are to be read. */
  readonly hits: readonly SearchHit[];
}

/** Does a step of a search; the program of the workers gives it to the engine, which knows what is searched of a record. */
export type RunSearchStep = (
  request: SearchStepRequest,
  textOf: (record: LogRecord) => string | undefined,
) => Promise<SearchStep>;
