import type { AnyEvent } from '@groundcrew/protocol';

/** What the outside knows of one session: it outlives every process, and every process must live up to it. */
export interface Ledger {
  readonly sessionId: string;
  /** Processes that had the session so far. */
  lives: number;
  /** `session.create` was acknowledged. */
  isCreated: boolean;
  /** Durable events as clients received them, a run for each client of each process, serialised. */
  readonly received: string[][];
  /** Message ids whose `session.send` was acknowledged. */
  readonly acknowledged: string[];
  /** Request ids of questions for which an answer was accepted. */
  readonly accepted: string[];
  /** Request ids of open questions that a resumed session would not take an answer to. */
  readonly refused: string[];
  /** Tool calls whose effect has happened. */
  readonly effects: string[];
  /** What went wrong on the way. */
  readonly problems: string[];
}

/** An empty ledger. */
export function newLedger(sessionId: string): Ledger {
  return {
    sessionId,
    lives: 1,
    isCreated: false,
    received: [],
    acknowledged: [],
    accepted: [],
    refused: [],
    effects: [],
    problems: [],
  };
}

/** A line that a reader of a failure can follow. */
export function brief(json: string): string {
  const { type, id, data } = JSON.parse(json) as AnyEvent;
  const text = JSON.stringify(data);
  return `${type} ${id} ${text.length > 120 ? `${text.slice(0, 120)}…` : text}`;
}
