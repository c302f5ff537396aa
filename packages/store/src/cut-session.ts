import type { LogRecord, SessionHead } from './session-store.js';

/** What is left of a session's log. */
export interface CutSession {
  /** Absent when the row that named the session is lost. */
  readonly sessionId?: string;
  /** From the first record on, without a gap. */
  readonly records: Iterable<LogRecord>;
  /** How many records are lost behind them; absent when that is not known. */
  readonly lost?: number;
}

/** How a session continues after damage: the records to append to its readable part, and the new head. */
export interface RepairedSession {
  readonly sessionId: string;
  readonly records: readonly LogRecord[];
  readonly head: SessionHead;
}
