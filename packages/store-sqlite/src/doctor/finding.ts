/** Where a home keeps its store. */
export interface StorePlace {
  readonly file: string;
  readonly runDirectory: string;
}

/**
 * `damaged` can be recovered from, `exposed` can be put right; `empty`, `foreign`, `newer` and `unreachable` are left alone.
 * The others are no problems: `unfinished` deletions can be finished, `rewritable` stores be rewritten, `leftover` can be
 * tidied away, `note` is good to know.
 */
export type FindingType =
  | 'damaged'
  | 'empty'
  | 'exposed'
  | 'foreign'
  | 'newer'
  | 'unreachable'
  | 'unfinished'
  | 'rewritable'
  | 'leftover'
  | 'note';

/** One thing to say of a store, as a sentence. */
export interface Finding {
  readonly type: FindingType;
  readonly message: string;
}

/** What a store holds, as far as it can be read. */
export interface StoreContents {
  readonly version: number;
  readonly sessions: number;
  readonly records: number;
}

/** What was found in a store. */
export interface Inspection {
  readonly findings: readonly Finding[];
  readonly contents?: StoreContents;
}

const problems: ReadonlySet<FindingType> = new Set([
  'damaged',
  'empty',
  'exposed',
  'foreign',
  'newer',
  'unreachable',
]);

/** Whether a user has to do something about it. */
export function isProblem({ type }: Finding): boolean {
  return problems.has(type);
}

/** Where a store is built anew before it takes the place of a damaged one. */
export function recoveringFile(file: string): string {
  return `${file}.recovering`;
}
