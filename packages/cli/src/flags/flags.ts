import { entryOf, splitFlag, UsageError, unknown, wholeNumber } from './arguments.js';
import { readPeerFlag } from './peer-flags.js';

/** One flag of a command: how it is spelled, what it means, how its value is read. */
export interface Flag<T> {
  readonly names: readonly string[];
  /** What stands for the value in help texts; a flag without it takes none. */
  readonly placeholder?: string;
  readonly help: string;
  /** Throws UsageError. */
  read(value: string, name: string): T;
  /** What it means when it is given again; without this, the last one counts. */
  join?(before: T, more: T): T;
}

/** The flags of a command, by the name its code knows them by. */
export type Flags = Readonly<Record<string, Flag<unknown>>>;

/** What was given of them. */
export type FlagValues<F extends Flags> = {
  readonly [K in keyof F]?: F[K] extends Flag<infer T> ? T : never;
};

/** A command line, read. */
export interface Given<F extends Flags> {
  readonly flags: FlagValues<F>;
  /** What is no flag, in order. */
  readonly words: readonly string[];
  /** What users should know of flags that change nothing. */
  readonly warnings: readonly string[];
}

/**
 * Reads flags and words in any order; after `--` everything is a word. Throws UsageError. With `acceptsPeerFlags`, flags of
 * the Copilot CLI that the table lacks are no mistake.
 */
export function readFlags<F extends Flags>(
  table: F,
  argv: readonly string[],
  options: { readonly acceptsPeerFlags?: boolean } = {},
): Given<F> {
  const byName = Object.fromEntries(
    Object.entries(table).flatMap(([key, flag]) => flag.names.map((name) => [name, { key, flag }])),
  );
  const values: Record<string, unknown> = {};
  const words: string[] = [];
  const warnings: string[] = [];
  for (let i = 0; i < argv.length; i++) {
    const argument = argv[i] ?? '';
    if (argument === '--') {
      words.push(...argv.slice(i + 1));
      break;
    }
    const [name, inline] = splitFlag(argument);
    const known = entryOf(byName, name);
    if (!known && argument.startsWith('-') && argument !== '-') {
      const peer = options.acceptsPeerFlags ? readPeerFlag(argv.slice(i), name, inline) : undefined;
      if (!peer) throw unknown(argument);
      warnings.push(...peer.warnings);
      i += peer.length - 1;
    } else if (!known) words.push(argument);
    else if (known.flag.placeholder === undefined) {
      if (inline !== undefined) throw new UsageError(`${name} takes no value`);
      values[known.key] = known.flag.read('', name);
    } else {
      const value = inline ?? argv[++i];
      if (value === undefined || (inline === undefined && entryOf(byName, value)))
        throw new UsageError(`${name} needs a value`);
      const read = known.flag.read(value, name);
      const before = values[known.key];
      values[known.key] = before === undefined ? read : (known.flag.join?.(before, read) ?? read);
    }
  }
  return { flags: values as FlagValues<F>, words, warnings }; // each value was read by the flag of its key
}

/** A flag that is there or not. */
export function switchFlag(name: string, help: string): Flag<true> {
  return { names: [name], help, read: () => true };
}

/** A flag with a text; the names may be several, separated by spaces. */
export function textFlag(names: string, placeholder: string, help: string): Flag<string> {
  return { names: names.split(' '), placeholder, help, read: (value) => value };
}

/** A flag with one of these words. */
export function choiceFlag<const T extends string>(
  name: string,
  choices: readonly T[],
  help: string,
): Flag<T> {
  const read = (value: string) => {
    const choice = choices.find((each) => each === value);
    if (choice === undefined)
      throw new UsageError(`${name} needs one of ${choices.join(', ')}, not ${value}`);
    return choice;
  };
  const placeholder = (name.split('-').at(-1) ?? '').toUpperCase();
  return { names: [name], placeholder, help, read };
}

/** A flag with a whole number from 0 on. */
export function numberFlag(options: {
  readonly name: string;
  readonly placeholder: string;
  readonly help: string;
  readonly most: number;
}): Flag<number> {
  const { name, placeholder, help, most } = options;
  return { names: [name], placeholder, help, read: (value) => wholeNumber(value, name, most) };
}

/** The flags as lines of a help text. */
export function flagLines(table: Flags): readonly string[] {
  const rows = Object.values(table).map(({ names, placeholder, help }): [string, string] => [
    [names.join(', '), ...(placeholder === undefined ? [] : [placeholder])].join(' '),
    help,
  ]);
  const width = Math.max(0, ...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, help]) => `  ${left.padEnd(width)}${help}`);
}
