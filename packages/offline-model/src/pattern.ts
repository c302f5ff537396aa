import type { Conversation } from './conversation.js';
import type { MaskedText } from './masked-text.js';

export interface PlannedCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

export type Reply =
  | { readonly type: 'say'; readonly text: string }
  | { readonly type: 'call'; readonly calls: readonly PlannedCall[] };

/** One row of the table: which sentences it answers, and how; it may still pass a sentence on. */
export interface Pattern {
  /** A sentence this row answers, for the documentation and the tests. */
  readonly example: string;
  readonly when: RegExp;
  reply(match: RegExpExecArray, sentence: MaskedText, conversation: Conversation): Reply | undefined;
}

/** An answer in words; nothing, when there are none. */
export function replyWith(text: string | undefined): Reply | undefined {
  return text === undefined ? undefined : { type: 'say', text };
}
