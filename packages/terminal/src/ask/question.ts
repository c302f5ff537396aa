import { type Draft, emptyDraft } from '../input/editor.js';
import type { Line } from '../text/span.js';

/** Something that can be chosen. */
export interface Option<T> {
  readonly label: string;
  /** The key that chooses it at once. */
  readonly key?: string;
  readonly value: T;
  /** It wants words: why not, what to change, an answer of one's own. */
  readonly asksFor?: string;
}

/** A question on the screen. */
export interface Question<T = unknown> {
  /** What it is about, all of it. */
  readonly body: readonly Line[];
  readonly options: readonly Option<T>[];
  /** Esc leaves it without an answer: the user asked for it, and no agent waits. */
  readonly canCancel?: boolean;
  /** Turns an option and the words for it into an answer; a sentence says why they are none. */
  read(option: Option<T>, words: string): { readonly answer: unknown } | { readonly problem: string };
}

/** A question that is shown, and where its user stands. */
export interface OpenQuestion {
  readonly question: Question;
  readonly chosen: number;
  /** The words that are being written, for the chosen option. */
  readonly draft: Draft | undefined;
  readonly problem: string | undefined;
  /** Its body is too long for the live part, and was printed. */
  readonly isPrinted: boolean;
  settle(answer: unknown): void;
}

/** A question that was just asked; without options that need a choice, words are written at once. */
export function opened(question: Question, settle: (answer: unknown) => void): OpenQuestion {
  const isText = question.options.length === 1 && question.options[0]?.asksFor !== undefined;
  return {
    question,
    chosen: 0,
    draft: isText ? emptyDraft : undefined,
    problem: undefined,
    isPrinted: false,
    settle,
  };
}
