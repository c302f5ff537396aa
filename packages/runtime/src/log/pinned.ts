/** A message of the user, whole, or its first line where there is no room for more. */
export interface PinnedMessage {
  readonly eventId: string;
  readonly text: string;
  /** Only a part of it; the log has the rest. */
  readonly isShort?: boolean;
}

/** A sentence of the user's that sounds like a rule. */
export interface PinnedRule {
  readonly eventId: string;
  readonly text: string;
  /** It may have been meant for once only, and goes first where there is no room. */
  readonly isLikely?: boolean;
}

/** A file, and what was done to it. */
export interface PinnedFile {
  readonly path: string;
  readonly created: boolean;
  readonly edits: number;
  /** How often it was read; absent: not by this tool. */
  readonly reads?: number;
}

/** What summaries may not lose. A part of the log: the next summary goes on from it. */
export interface Pinned {
  /** The first one is the goal. */
  readonly messages: readonly PinnedMessage[];
  /** Messages of which not even a line has room. */
  readonly earlier: number;
  readonly rules: readonly PinnedRule[];
  readonly files: readonly PinnedFile[];
  /** Skills that were loaded. */
  readonly skills: readonly string[];
}

/** Of a conversation that was not summarised yet. */
export const nothingPinned: Pinned = { messages: [], earlier: 0, rules: [], files: [], skills: [] };
