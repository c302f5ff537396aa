import type { KnownWord } from './command-word.js';

/** How an option is written: alone, with a value (joined or in the next word), or with a value that can only be joined. */
type OptionForm = 'flag' | 'value' | 'joined';

/** Every option that a program may be given in one role. */
export interface OptionTable {
  readonly short: ReadonlyMap<string, OptionForm>;
  readonly long: ReadonlyMap<string, OptionForm>;
  /** `-20` is an option too. */
  readonly hasNumbers: boolean;
}

/** One option as it was given. */
export interface GivenOption {
  /** With its dashes: `-n`, `--lines`. */
  readonly name: string;
  readonly value?: string;
}

/** The words of a command as its program reads them. */
export interface ParsedCall {
  readonly options: readonly GivenOption[];
  readonly operands: readonly KnownWord[];
}

/**
 * Reads a table: `-abc` are flags, `-n:` takes a value, `-u?` takes one that is joined, `-#` is any number; `--all` is a
 * flag, `--lines=` takes a value, `--color=?` takes one that is joined.
 */
export function optionTable(...specs: readonly string[]): OptionTable {
  const short = new Map<string, OptionForm>();
  const long = new Map<string, OptionForm>();
  let hasNumbers = false;
  for (const spec of specs.join(' ').split(/\s+/)) {
    const [, name = '', suffix = ''] = /^--([^=]+)(=\??)?$/.exec(spec) ?? [];
    if (name !== '') long.set(name, longForms[suffix] ?? 'flag');
    else if (spec === '-#') hasNumbers = true;
    else for (const [letter, form] of shortOptions(spec)) short.set(letter, form);
  }
  return { short, long, hasNumbers };
}

const longForms: Readonly<Record<string, OptionForm>> = { '=': 'value', '=?': 'joined' };

function shortOptions(spec: string): readonly (readonly [string, OptionForm])[] {
  const letters = /^-([^:?]+)$/.exec(spec)?.[1];
  if (letters !== undefined) return [...letters].map((letter) => [letter, 'flag']);
  const [, letter, suffix] = /^-(.)([:?])$/.exec(spec) ?? [];
  return letter === undefined ? [] : [[letter, suffix === ':' ? 'value' : 'joined']];
}

/**
 * Reads words as `getopt` does. Undefined when some option is not in the table, is cut short, or is known only when the
 * command runs. With `stopsAtOperand` the first operand ends the options, as it does for programs that run others.
 */
export function parseCall(
  words: readonly KnownWord[],
  table: OptionTable,
  { stopsAtOperand = false }: { readonly stopsAtOperand?: boolean } = {},
): ParsedCall | undefined {
  const options: GivenOption[] = [];
  const operands: KnownWord[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (!word || word.kind === 'dynamic') return undefined;
    if (word.value === '--') {
      operands.push(...words.slice(at + 1));
      break;
    }
    if (!/^-./.test(word.value)) {
      operands.push(word);
      if (!stopsAtOperand) continue;
      operands.push(...words.slice(at + 1));
      break;
    }
    const given = word.value.startsWith('--') ? longOption(word, table) : joinedOptions(word, table);
    if (!given) return undefined;
    const last = given.at(-1);
    if (last?.wantsValue) {
      const value = words[at + 1];
      if (value?.kind !== 'literal') return undefined;
      options.push(...given.slice(0, -1), { name: last.name, value: value.value });
      at += 1;
    } else options.push(...given);
  }
  return operands.some(({ kind }) => kind === 'dynamic') ? undefined : { options, operands };
}

interface ReadOption extends GivenOption {
  /** Its value is the next word. */
  readonly wantsValue?: boolean;
}

/** A long option counts by its whole name only: what a shorter one stands for depends on the program's release. */
function longOption(
  { value: text, kind }: KnownWord,
  { long }: OptionTable,
): readonly ReadOption[] | undefined {
  const [, name = '', value] = /^--([^=]*)(?:=([\s\S]*))?$/.exec(text) ?? [];
  const form = long.get(name);
  // What a wildcard becomes still begins with what stands before it.
  if (form === undefined || (kind !== 'literal' && !/^--[\w-]+=/.test(text))) return undefined;
  if (value !== undefined) return form === 'flag' ? undefined : [{ name: `--${name}`, value }];
  return [{ name: `--${name}`, ...(form === 'value' && { wantsValue: true }) }];
}

/** Letters may be joined; the first that takes a value takes the rest of the word. */
function joinedOptions({ value, kind }: KnownWord, table: OptionTable): readonly ReadOption[] | undefined {
  if (kind !== 'literal') return undefined;
  if (table.hasNumbers && /^-\d+$/.test(value)) return [{ name: '-#', value: value.slice(1) }];
  const given: ReadOption[] = [];
  for (let at = 1; at < value.length; at += 1) {
    const letter = value.charAt(at);
    const form = table.short.get(letter);
    if (form === undefined) return undefined;
    const rest = value.slice(at + 1);
    if (form === 'flag') given.push({ name: `-${letter}` });
    else if (rest === '' && form === 'value') return [...given, { name: `-${letter}`, wantsValue: true }];
    else return [...given, { name: `-${letter}`, ...(rest !== '' && { value: rest }) }];
  }
  return given;
}

/** Reads words as Go's programs do: every option has one name, with one dash or two. */
export function parseGoCall(
  words: readonly KnownWord[],
  { flags, values }: { readonly flags: ReadonlySet<string>; readonly values: ReadonlySet<string> },
): ParsedCall | undefined {
  const options: GivenOption[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at];
    if (!word || word.kind === 'dynamic') return undefined;
    const [, name, joined] = /^--?([^-=][^=]*)(?:=([\s\S]*))?$/.exec(word.value) ?? [];
    if (name === undefined || word.value === '--') {
      const operands = words.slice(word.value === '--' ? at + 1 : at);
      // Its tests read options after the packages as well.
      const isPlain = operands.every(({ kind, value }) => kind !== 'dynamic' && !value.startsWith('-'));
      return isPlain ? { options, operands } : undefined;
    }
    if (word.kind !== 'literal' || !(flags.has(name) || values.has(name))) return undefined;
    if (joined !== undefined || flags.has(name)) {
      options.push({ name: `-${name}`, ...(joined !== undefined && { value: joined }) });
      continue;
    }
    const value = words[at + 1];
    if (value?.kind !== 'literal') return undefined;
    options.push({ name: `-${name}`, value: value.value });
    at += 1;
  }
  return { options, operands: [] };
}
