import type { ExecutorKind } from './executor.js';

/** What a sandboxed child may touch. All paths are absolute; what does not exist is left out when the child starts. */
export interface Confinement {
  readonly kind: Exclude<ExecutorKind, 'host'>;
  /** Directories and files that may be written: those of the session, and those a client added. */
  readonly writable: readonly string[];
  /** What a client opened for reading: shown although it would be hidden, read-only although it would be writable. */
  readonly readOnly: readonly string[];
  /** What rules deny to read: neither seen nor written. */
  readonly hidden: readonly string[];
  /** What rules deny to write only. */
  readonly frozen: readonly string[];
  /** Homes of runtimes: hidden but for what is writable in them. */
  readonly runtimeHomes: readonly string[];
  /**
   * Show system directories, tools and the session's directories only. A rule that denies a name in any directory holds
   * so, since no search of a whole disk fits before each command.
   */
  readonly isNarrow: boolean;
  readonly hasNetwork: boolean;
  /** Of macOS: whether keychains may be read. */
  readonly hasKeychain: boolean;
}

/** A child cannot be confined as it has to be. */
export class CannotConfine extends Error {
  override readonly name = 'CannotConfine';
}
