/** What becomes of a field that a client sends. */
export type Support =
  /** The runtime goes by it; where only some words mean anything, by these. */
  | { readonly type: 'used'; readonly words?: readonly string[] }
  /** It has no effect in this version: a value that asks for something gets a warning. */
  | { readonly type: 'unused'; readonly because: string; readonly neutral: readonly unknown[] }
  /** It protects the one who sends it, and would not: a value that asks for something is an error. */
  | { readonly type: 'refused'; readonly because: string }
  /** An object whose fields are looked at one by one; `each`: of a list, or by name. */
  | { readonly type: 'object'; readonly each: 'field' | 'item' | 'name'; readonly fields: SupportTable };

/** By the name of a field, what becomes of it. */
export type SupportTable = Readonly<Record<string, Support>>;

/** The table for an object: one entry for each of its fields, none missing and none too many. */
export type SupportOf<T> = { readonly [K in keyof Required<T>]: Support };

/** The runtime goes by it. */
export const used: Support = { type: 'used' };

/** The runtime goes by these words, and takes others for none of them. */
export function words(...known: readonly string[]): Support {
  return { type: 'used', words: known };
}

/** No effect in this version. `neutral` values ask for what is so anyway, as do `false`, `""`, `[]` and `{}`. */
export function unused(because: string, ...neutral: readonly unknown[]): Support {
  return { type: 'unused', because, neutral };
}

/** Not built yet, and no app may rely on it. */
export function refused(because: string): Support {
  return { type: 'refused', because };
}

/** Looked at field by field. */
export function object(fields: SupportTable): Support {
  return { type: 'object', each: 'field', fields };
}

/** A list of such objects. */
export function list(fields: SupportTable): Support {
  return { type: 'object', each: 'item', fields };
}

/** Such objects by name. */
export function map(fields: SupportTable): Support {
  return { type: 'object', each: 'name', fields };
}

/** A field that does not do what its sender may expect. */
export interface OptionFinding {
  /** Its path, such as `tools.defer`. */
  readonly option: string;
  readonly isRefused: boolean;
  /** One sentence for users. */
  readonly message: string;
}

/** What of these parameters has no effect or is refused: each field once, in the order in which they came. */
export function findIneffective(
  params: Readonly<Record<string, unknown>>,
  table: SupportTable,
): readonly OptionFinding[] {
  const found = new Map<string, OptionFinding>();
  for (const finding of lookInto(params, table, '')) {
    if (!found.has(finding.option)) found.set(finding.option, finding);
    if (found.size > mostFindings) break;
  }
  return [...found.values()];
}

/** More than there are fields in all tables: a client that sends more of them has made them up. */
const mostFindings = 200;
const longestName = 64;

function* lookInto(params: object, table: SupportTable, path: string): Generator<OptionFinding> {
  for (const [name, value] of Object.entries(params)) {
    const support = Object.hasOwn(table, name) ? table[name] : undefined;
    yield* judge(value, support, `${path}${support ? name : shortened(name)}`);
  }
}

function* judge(value: unknown, support: Support | undefined, option: string): Generator<OptionFinding> {
  if (support?.type === 'object')
    for (const each of objectsIn(value, support.each)) yield* misspelt(each, support.fields, `${option}.`);
  if (!asksForSomething(value)) return;
  switch (support?.type) {
    case 'used':
      if (typeof value === 'string' && support.words?.includes(value) === false)
        yield warning(option, `has no effect as ${quoted(value)}: known are ${listed(support.words)}.`);
      return;
    case 'unused':
      if (!support.neutral.includes(value)) yield warning(option, `has no effect: ${support.because}`);
      return;
    case 'refused': {
      const message = `The option '${option}' is not available: ${support.because}`;
      yield { option, isRefused: true, message };
      return;
    }
    case 'object':
      for (const each of objectsIn(value, support.each)) yield* lookInto(each, support.fields, `${option}.`);
      return;
    case undefined:
      yield warning(option, unknownOption);
  }
}

/** Inside a known option a name that is not known is a mistake, also where it would switch something off. */
function* misspelt(params: object, table: SupportTable, path: string): Generator<OptionFinding> {
  for (const [name, value] of Object.entries(params))
    if (!Object.hasOwn(table, name) && value !== undefined && value !== null)
      yield warning(`${path}${shortened(name)}`, unknownOption);
}

const unknownOption = 'has no effect: this version does not know it.';

/** An unknown name, on one line. */
function shortened(name: string): string {
  const line = name.slice(0, longestName).replace(/[\s\p{Cc}]+/gu, ' ');
  return name.length > longestName ? `${line}…` : line;
}

function quoted(value: string): string {
  return JSON.stringify(shortened(value));
}

function listed(known: readonly string[]): string {
  return known.map((word) => JSON.stringify(word)).join(', ');
}

function warning(option: string, text: string): OptionFinding {
  return { option, isRefused: false, message: `The option '${option}' ${text}` };
}

function objectsIn(value: unknown, each: 'field' | 'item' | 'name'): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  const values: readonly unknown[] = each === 'field' ? [value] : Object.values(value);
  return values.filter((one): one is object => typeof one === 'object' && one !== null);
}

/** Clients send many fields always: off, empty and nothing are no wishes. */
function asksForSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (typeof value !== 'object') return true;
  return Array.isArray(value) ? value.length > 0 : Object.values(value).some(asksForSomething);
}
