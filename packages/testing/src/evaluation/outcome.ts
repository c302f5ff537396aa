/** One tool call of an agent that is evaluated. */
export interface EvaluatedCall {
  readonly name: string;
  readonly arguments: unknown;
  readonly succeeded: boolean;
}

/** What an agent did with one prompt of a dataset. */
export interface EvaluatedTurn {
  readonly prompt: string;
  /** The last answer; empty when there was none. */
  readonly answer: string;
  readonly calls: readonly EvaluatedCall[];
  /** Why the turn failed, where it did. */
  readonly error?: string;
  readonly milliseconds: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars; null when the price of some call is not known. */
  readonly cost: number | null;
}

/** What a check found. */
export interface Verdict {
  readonly passed: boolean;
  /** Why not, in one sentence; of a judge, also why. */
  readonly reason?: string;
}

/** What one check said of one turn. */
export interface CheckedTurn extends Verdict {
  readonly check: string;
}

/** One prompt of the dataset, tried with one variant. */
export interface EvaluatedCase {
  readonly name: string;
  readonly variant: string;
  /** Counted from 1. */
  readonly attempt: number;
  readonly passed: boolean;
  readonly turn: EvaluatedTurn;
  readonly checks: readonly CheckedTurn[];
}
