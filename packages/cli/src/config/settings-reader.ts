import { homedir } from 'node:os';
import { isAbsolute } from 'node:path';
import { isObject } from '@groundcrew/protocol';
import { UsageError } from '../flags/arguments.js';

/** Where in a file a value stands, and what is called with warnings about it. */
export interface Place {
  readonly path: string;
  warn(path: string, message: string): void;
}

/** Reads one value of a file; throws Mismatch. */
export type Reader<T> = (value: unknown, at: Place) => T;

/** A value of the wrong kind, with its path in the file. */
class Mismatch extends UsageError {
  constructor(path: string, expected: string, value: unknown) {
    super(`${path || 'the file'}: expected ${expected}, not ${nameOf(value)}`);
  }
}

/** A text that says something. */
export const text: Reader<string> = (value, at) => {
  if (typeof value === 'string' && value !== '') return value;
  throw new Mismatch(at.path, 'a text', value);
};

/** true or false. */
export const flag: Reader<boolean> = (value, at) => {
  if (typeof value === 'boolean') return value;
  throw new Mismatch(at.path, 'true or false', value);
};

/** A whole number from 0 to this one. */
export function wholeNumberUpTo(most: number): Reader<number> {
  return (value, at) => {
    if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= most) return value;
    throw new Mismatch(at.path, `a whole number from 0 to ${most}`, value);
  };
}

/** A number from 0 to this one. */
export function amountUpTo(most: number): Reader<number> {
  return (value, at) => {
    if (typeof value === 'number' && value >= 0 && value <= most) return value;
    throw new Mismatch(at.path, `a number from 0 to ${most}`, value);
  };
}

/** One of these words. */
export function oneOf<const T extends string>(...words: readonly T[]): Reader<T> {
  return (value, at) => {
    const word = words.find((each) => each === value);
    if (word !== undefined) return word;
    throw new Mismatch(at.path, `one of ${words.join(', ')}`, value);
  };
}

/** An http or https address. */
export const address: Reader<string> = (value, at) => {
  if (typeof value === 'string' && URL.canParse(value) && /^https?:/i.test(value)) return value;
  throw new Mismatch(at.path, 'an http or https address', value);
};

/** The whole name of a file or directory; `~` is the user's home. */
export const absolutePath: Reader<string> = (value, at) => {
  const path = typeof value === 'string' ? value.replace(/^~(?=\/|$)/, homedir()) : '';
  if (isAbsolute(path) && !path.includes('\0')) return path;
  throw new Mismatch(at.path, 'an absolute path', value);
};

/** A list, each of whose entries is read. */
export function listOf<T>(read: Reader<T>): Reader<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw new Mismatch(at.path, 'a list', value);
    return value.map((each: unknown, index) => read(each, { ...at, path: `${at.path}[${index}]` }));
  };
}

/** Any names, each with a value that is read. */
export function recordOf<T>(read: Reader<T>): Reader<Readonly<Record<string, T>>> {
  return (value, at) =>
    Object.fromEntries(
      entriesOf(value, at).map(([name, each]) => [name, read(each, { ...at, path: below(at.path, name) })]),
    );
}

/** Only these names, all of them optional; others are warned about and left out. */
export function objectOf<F extends Readonly<Record<string, Reader<unknown>>>>(
  fields: F,
): Reader<{ readonly [K in keyof F]?: ReturnType<F[K]> }> {
  return (value, at) => {
    const known = entriesOf(value, at).flatMap(([name, each]) => {
      const path = below(at.path, name);
      const read = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (read) return [[name, read(each, { ...at, path })]];
      if (name !== '$schema') at.warn(path, 'unknown field, ignored');
      return [];
    });
    // Each value was read by the reader of its name.
    return Object.fromEntries(known) as { readonly [K in keyof F]?: ReturnType<F[K]> };
  };
}

function entriesOf(value: unknown, at: Place): readonly (readonly [string, unknown])[] {
  if (isObject(value)) return Object.entries(value);
  throw new Mismatch(at.path, 'an object', value);
}

function below(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}

/** The value is not shown: it may be a secret in the wrong place. */
function nameOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'string') return value === '' ? 'an empty text' : 'another text';
  if (typeof value === 'object') return 'an object';
  return String(value);
}
