declare const __FAILPOINTS__: boolean | undefined;

/** The steps of a write, in order: a chaos test kills the process at the k-th. */
export type FailpointName =
  | 'taken'
  | 'sent'
  | 'answered'
  | 'acknowledged'
  | 'removed'
  | 'detached'
  | 'erased';

/** What a test hangs on the steps. */
export type Failpoint = (name: FailpointName) => void;

/** Shows a test that a step is reached; shipped bundles define `__FAILPOINTS__` as false and lose the call. */
export function reach(failpoint: Failpoint | undefined, name: FailpointName): void {
  if (typeof __FAILPOINTS__ === 'undefined' || __FAILPOINTS__) failpoint?.(name);
}
