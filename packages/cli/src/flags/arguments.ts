/** A command line or configuration that makes no sense; the message says what to do instead. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An option that does not exist, in the words that clients look for; a value that was given with it is not repeated. */
export class UnknownOption extends UsageError {
  constructor(argument: string) {
    const name = splitFlag(argument)[0].replace(/\p{C}/gu, '?');
    super(`error: unknown option '${name}'\nRun groundcrew --help to see what there is.`);
  }
}

/** The one thing to say of an argument that means nothing here. */
export function unknown(argument: string): UsageError {
  if (argument.startsWith('-') && argument !== '-') return new UnknownOption(argument);
  return new UsageError(`Unknown argument ${argument}. Run groundcrew --help to see what there is.`);
}

/** The entry of this name; an argument may be any word, `constructor` too. */
export function entryOf<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A flag, and the value that is joined to it by `=`. */
export function splitFlag(argument: string): [string, string?] {
  const at = argument.startsWith('--') ? argument.indexOf('=') : -1;
  return at < 0 ? [argument] : [argument.slice(0, at), argument.slice(at + 1)];
}

/** Reads a number of a flag or variable. Throws UsageError. */
export function wholeNumber(value: string, name: string, most: number): number {
  const number = Number(value);
  if (/^\d+$/.test(value) && number <= most) return number;
  throw new UsageError(`${name} needs a whole number from 0 to ${most}, not ${value}`);
}

/** Reads a variable that switches something. Throws UsageError: a word that is not known must switch nothing on. */
export function trueOrFalse(value: string, name: string): boolean {
  const word = value.toLowerCase();
  if (['true', '1', 'on'].includes(word)) return true;
  if (['false', '0', 'off'].includes(word)) return false;
  throw new UsageError(`${name} needs true or false, not ${value}`);
}

/** Names separated by commas. */
export function namesIn(list: string | undefined): readonly string[] {
  return (list ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

/** The highest port there is. */
export const lastPort = 65_535;

/** The longest time that flags and settings may name, in seconds. */
export const longestSeconds = 10_000_000;
