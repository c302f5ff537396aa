import { nearestName } from '../nearest-name.js';

/** What becomes of a field that a client sends. */
export type Support =
  /** The runtime goes by it; where only some words mean anything, by these. */
  | { readonly type: 'used'; readonly words?: readonly string[] }
  /** It has no effect in this version: a value that asks for something gets a warning. */
  | { readonly type: 'unused'; readonly because: string; readonly neutral: readonly unknown[] }
  /** It protects the one who sends it, and would not: a value that asks for something is an error. */
  | { readonly type: 'refused'; readonly because: string }
  /** An object whose fields are looked at one by one; `each`: of a list, or by name. */
  | { readonly type: 'object'; readonly each: 'field' | 'item' | 'name'; readonly fields: SupportTable }
  /** A list of objects whose fields depend on their `type`. */
  | { readonly type: 'variants'; readonly byType: Readonly<Record<string, SupportTable>> };

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

/** A list of objects, each looked at by what its `type` says it is. */
export function variants(byType: Readonly<Record<string, SupportTable>>): Support {
  return { type: 'variants', byType };
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
  lookInto(params, { table, path: '', isInside: false, seen: new Set() }, found);
  return [...found.values()];
}

/** More than there are fields in all tables: a client that sends more of them has made them up. */
const mostFindings = 200;
const longestName = 64;

/** The fields of objects, and where these stand. */
interface Place {
  readonly table: SupportTable;
  readonly path: string;
  /** Inside a known option a name that is not known is a mistake, also where it would switch something off. */
  readonly isInside: boolean;
  /** Names that are not known, and were looked at: thousands of objects may have the same. */
  readonly seen: Set<string>;
}

type Found = Map<string, OptionFinding>;

function lookInto(params: object, place: Place, found: Found): void {
  const { table, path, isInside, seen } = place;
  for (const name of Object.keys(params)) {
    if (seen.has(name)) continue;
    const value = (params as Readonly<Record<string, unknown>>)[name];
    const support = Object.hasOwn(table, name) ? table[name] : undefined;
    if (support) judge(value, support, `${path}${name}`, found);
    else if (isInside ? value !== undefined && value !== null : asksForSomething(value)) {
      seen.add(name);
      addUnknown(name, place, found);
    }
  }
}

function judge(value: unknown, support: Support, option: string, found: Found): void {
  if (support.type === 'object' || support.type === 'variants') {
    const places = new Map<SupportTable, Place>();
    for (const { object: each, fields } of objectsIn(value, support)) {
      const place = places.get(fields) ?? {
        table: fields,
        path: `${option}.`,
        isInside: true,
        seen: new Set(),
      };
      places.set(fields, place);
      lookInto(each, place, found);
    }
    return;
  }
  if (found.has(option) || !asksForSomething(value)) return;
  const finding = findingOf(value, support, option);
  if (finding) add(found, finding);
}

function findingOf(
  value: unknown,
  support: Exclude<Support, { readonly type: 'object' | 'variants' }>,
  option: string,
): OptionFinding | undefined {
  if (support.type === 'refused')
    return {
      option,
      isRefused: true,
      message: `The option '${option}' is not available: ${support.because}`,
    };
  if (support.type === 'unused')
    return support.neutral.includes(value) ? undefined : warning(option, `has no effect: ${support.because}`);
  return typeof value === 'string' && support.words?.includes(value) === false
    ? warning(option, `has no effect as ${quoted(value)}: ${known(value, support.words)}`)
    : undefined;
}

function addUnknown(name: string, { table, path }: Place, found: Found): void {
  if (found.size >= mostFindings) return;
  const option = `${path}${shortened(name)}`;
  if (found.has(option)) return;
  const near = nearestName(name, Object.keys(table));
  const hint = near === undefined ? '' : ` Did you mean '${near}'?`;
  add(found, warning(option, `has no effect: this version does not know it.${hint}`));
}

/** Adds every refusal, and warnings up to a bound. */
function add(found: Found, finding: OptionFinding): void {
  if (finding.isRefused || found.size < mostFindings) found.set(finding.option, finding);
}

/** An unknown name, on one line. */
function shortened(name: string): string {
  const line = name.slice(0, longestName).replace(/[\s\p{Cc}]+/gu, ' ');
  return name.length > longestName ? `${line}…` : line;
}

function quoted(value: string): string {
  return JSON.stringify(shortened(value));
}

/** The words that mean something, and which of them may be meant. */
function known(value: string, knownWords: readonly string[]): string {
  const near = nearestName(value, knownWords);
  const list = knownWords.map((word) => JSON.stringify(word)).join(', ');
  return `known are ${list}.${near === undefined ? '' : ` Did you mean '${near}'?`}`;
}

function warning(option: string, text: string): OptionFinding {
  return { option, isRefused: false, message: `The option '${option}' ${text}` };
}

/** The objects that a value is or has, each with what may be in it. */
function objectsIn(
  value: unknown,
  support: Extract<Support, { readonly type: 'object' | 'variants' }>,
): readonly { readonly object: object; readonly fields: SupportTable }[] {
  if (!isObjectOrList(value)) return [];
  const values: readonly unknown[] =
    support.type === 'object' && support.each === 'field' ? [value] : Object.values(value);
  return values.filter(isObjectOrList).flatMap((object) => {
    const fields = support.type === 'object' ? support.fields : fieldsByType(object, support.byType);
    return fields ? [{ object, fields }] : [];
  });
}

function fieldsByType(
  object: { readonly type?: unknown },
  byType: Readonly<Record<string, SupportTable>>,
): SupportTable | undefined {
  const { type } = object;
  return typeof type === 'string' && Object.hasOwn(byType, type) ? byType[type] : undefined;
}

function isObjectOrList(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** Clients send many fields always: off, empty and nothing are no wishes. */
function asksForSomething(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (typeof value !== 'object') return true;
  return Array.isArray(value) ? value.length > 0 : Object.values(value).some(asksForSomething);
}
