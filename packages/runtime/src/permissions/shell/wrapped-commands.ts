import type { KnownWord } from './command-word.js';

/** What a command that runs other commands is about to run. */
export type Wrapped =
  /** These words are a command of their own. */
  | { readonly type: 'words'; readonly words: readonly KnownWord[] }
  /** A word is shell text. */
  | { readonly type: 'text'; readonly text: KnownWord }
  /** Something that the text does not say. */
  | { readonly type: 'unknown' };

/** A word that a shell will read as commands. */
export function asText(text: KnownWord): Wrapped {
  return { type: 'text', text };
}

/** Words that a shell will read as one text, with spaces between them. */
export function asOneText(words: readonly KnownWord[]): readonly Wrapped[] {
  const [first] = words;
  if (!first) return [];
  const text = asText({ ...first, value: words.map((word) => word.value).join(' '), kind: 'literal' });
  return words.some((word) => word.kind === 'dynamic') ? [text, { type: 'unknown' }] : [text];
}
