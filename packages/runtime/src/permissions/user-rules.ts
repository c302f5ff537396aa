import type { Rule } from './rules.js';

/** The rules a user has written for all sessions of a home. */
export interface UserRules {
  readonly deny: readonly Rule[];
  readonly allow: readonly Rule[];
  /** Why they could not be read; until they can, nothing runs. */
  readonly problem?: string;
}

/** The rules as they are now; asked before each call, so that a change counts at once. */
export type UserRulesReader = (configDir?: string) => UserRules;
