/** A question of the agent, as clients show it. */
export interface UserQuestion {
  readonly question: string;
  readonly choices?: readonly string[];
  /** Words of one's own are an answer too. */
  readonly allowFreeform: boolean;
}

/** What the user answered. */
export interface UserAnswer {
  readonly answer: string;
  /** In words of their own, and not one of the choices. */
  readonly wasFreeform: boolean;
}
