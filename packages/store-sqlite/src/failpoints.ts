declare const __FAILPOINTS__: boolean | undefined;

/** The write steps of a flush, and of an erasure, in order: a chaos test kills the process, or throws, at the k-th. */
export type FailpointName =
  | 'begin'
  | 'written'
  | 'commit'
  | 'committed'
  | 'marked'
  | 'detached'
  | 'discarded'
  | 'swept'
  | 'scrubbed'
  | 'erased';

/** What a test hangs on the write steps. */
export type Failpoint = (name: FailpointName) => void;

/** Signals to a test that a write step is reached; shipped bundles define `__FAILPOINTS__` as false and lose the call. */
export function reach(failpoint: Failpoint | undefined, name: FailpointName): void {
  if (typeof __FAILPOINTS__ === 'undefined' || __FAILPOINTS__) failpoint?.(name);
}
