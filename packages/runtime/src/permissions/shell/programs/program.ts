import type { KnownWord } from '../command-word.js';
import { type OptionTable, optionTable, type ParsedCall, parseCall } from '../options.js';

/** What a program does when it is given only what the table lists. */
export type Role =
  /** It changes nothing and runs nothing. */
  | 'reads'
  /** It changes what its words name, and runs nothing else. */
  | 'writes'
  /** It runs what the project or the place defines: tasks, tests, scripts. */
  | 'runs';

/** A call that the table knows in all its words. */
export interface Understood extends ParsedCall {
  readonly role: Role;
  /** Words that the program takes for patterns or for text of its own language, and never for files. */
  readonly texts?: readonly KnownWord[];
  /** It would follow links that it meets in a directory. */
  readonly followsLinksInside?: boolean;
  /** Files that it writes besides those its words name: `cp a/x d` writes `d/x`. */
  readonly made?: readonly string[];
  /** Directories below which it writes files under names that its words do not say. */
  readonly filled?: readonly string[];
  /** Directories that it unpacks into: names in the archive may lead through links to directories that are there. */
  readonly unpacked?: readonly string[];
  /** It rests on the settings of the git repository it works in. */
  readonly git?: GitCall;
  /** Why an approval of its name alone does not cover it. */
  readonly beyondName?: string;
}

/** A call of git. */
export interface GitCall {
  readonly subcommand: string;
  /** Its first word: `add` of `git remote add`. */
  readonly inner?: string;
  /** Where it starts from: each from the one before. */
  readonly directories: readonly string[];
}

/** One program, or one sub-command: reads its words; undefined when it does not know them all. */
export type Program = (words: readonly KnownWord[]) => Understood | undefined;

/** A program whose words are options of a table and operands. */
export function program(
  role: Role,
  options: string | OptionTable,
  more: {
    readonly fits?: (call: ParsedCall) => boolean;
    readonly stopsAtOperand?: boolean;
    readonly followsLinksInside?: boolean;
  } = {},
): Program {
  const table = typeof options === 'string' ? optionTable(options, common) : options;
  const { fits = () => true, stopsAtOperand = false, followsLinksInside } = more;
  return (words) => {
    const call = parseCall(words, table, { stopsAtOperand });
    if (!call || !fits(call)) return undefined;
    return { role, ...call, ...(followsLinksInside && { followsLinksInside }) };
  };
}

const common = '--help --version';

/** The values of one option. */
export function valuesOf({ options }: ParsedCall, ...names: readonly string[]): readonly string[] {
  return options.flatMap(({ name, value }) => (names.includes(name) && value !== undefined ? [value] : []));
}

/** Whether an option was given. */
export function has({ options }: ParsedCall, ...names: readonly string[]): boolean {
  return options.some(({ name }) => names.includes(name));
}

/** Programs of one description under several names. */
export function each(names: string, one: Program): readonly (readonly [string, Program])[] {
  return names.split(' ').map((name) => [name, one] as const);
}

/** A program that reads when all of its words fit, and is not known otherwise. */
export function readsWhere(fits: (words: readonly string[]) => boolean): Program {
  return (words) => {
    if (words.some(({ kind }) => kind !== 'literal')) return undefined;
    return fits(words.map(({ value }) => value))
      ? { role: 'reads', options: [], operands: words }
      : undefined;
  };
}

/** Sub-commands after options of the program itself. */
export function subcommands(
  table: ReadonlyMap<string, Program>,
  globals = optionTable(),
): (words: readonly KnownWord[]) => Understood | undefined {
  return (words) => {
    const leading = parseCall(words, globals, { stopsAtOperand: true });
    const [name, ...rest] = leading?.operands ?? [];
    if (!leading || !name) return undefined;
    const call = name.kind === 'literal' ? table.get(name.value)?.(rest) : undefined;
    return call && { ...call, options: [...leading.options, ...call.options] };
  };
}
