import type { KnownWord } from './command-word.js';

/** How the options of a command that wraps another one are written. */
export interface OptionShape {
  /** Options with a value in the next word. */
  readonly valued: string;
  readonly long?: readonly string[];
  /** Words that come before the command. */
  readonly operands?: number;
  /** `NAME=value` may come before the command. */
  readonly assigns?: boolean;
  /** An option may begin with a plus. */
  readonly mayBePlus?: boolean;
}

/** Where the inner command begins. */
export function innerAt(shape: OptionShape, words: readonly KnownWord[]): number {
  let at = afterOptions(shape, words) + (shape.operands ?? 0);
  for (let next = afterAssignments(shape, words, at); next > at; next = afterAssignments(shape, words, at)) {
    at = afterOptions(shape, words, next);
  }
  return at;
}

/** Where the options that stand here end. */
export function afterOptions(shape: OptionShape, words: readonly KnownWord[], from = 0): number {
  let at = from;
  for (let word = words[at]; word && isOption(shape, word.value); word = words[at]) {
    at += takesNext(shape, word.value) ? 2 : 1;
    if (word.value === '--') break;
  }
  return at;
}

/** `env - command` is `env -i command`. */
function isOption({ assigns, mayBePlus }: OptionShape, value: string): boolean {
  if (value === '-') return assigns === true;
  return value.startsWith('-') || (mayBePlus === true && value.startsWith('+'));
}

function afterAssignments({ assigns }: OptionShape, words: readonly KnownWord[], from: number): number {
  let at = from;
  while (assigns && /^\w+=/.test(words[at]?.value ?? '')) at += 1;
  return at;
}

/** Long options may be cut short; the letter that takes a value is the last of those joined. */
function takesNext({ long, valued }: OptionShape, option: string): boolean {
  if (option.startsWith('--'))
    return option.length > 2 && (long?.some((name) => name.startsWith(option)) ?? false);
  return (
    valued.includes(option.at(-1) ?? ' ') &&
    [...option.slice(1, -1)].every((letter) => !valued.includes(letter))
  );
}

/** The values of these options, joined to them or in the next word. */
export function optionTexts(words: readonly KnownWord[], option: RegExp): readonly KnownWord[] {
  return words.flatMap((word, index) => {
    const found = option.exec(word.value);
    if (!found) return [];
    const value = found[1] || found[2];
    return value ? [{ ...word, value }] : words.slice(index + 1, index + 2);
  });
}
