/** The points at which hooks decide about calls and what comes of them. */
export const guardPoints = ['preToolUse', 'preMcpToolCall', 'postToolUse'] as const;

/** A point at which hooks decide about calls and what comes of them. */
export type GuardPoint = (typeof guardPoints)[number];

/** What the log says of the clients with hooks that a session had. */
export interface RecordedGuard {
  /** Some client had hooks. */
  readonly hasHooks?: boolean;
  /** What their hooks decide about; in logs of earlier releases absent, which stands for all. */
  readonly guardedPoints?: readonly GuardPoint[];
}
