/** How much of an attack is made. */
export interface AttackOptions {
  /** How many cases; each attack makes what it can of that. */
  readonly count: number;
  /** The same seed makes the same cases. */
  readonly seed: number;
}

/** What came of an attack. */
export interface Attack {
  readonly tried: number;
  /** Cases in which a promise did not hold, in words. */
  readonly violations: readonly string[];
  /** Figures that belong to the result. */
  readonly measured?: string;
}
