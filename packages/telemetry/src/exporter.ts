import type { Measured } from './meter.js';
import type { EndedSpan } from './span.js';

/** Takes telemetry out of the process. Rejects when it could not; the caller decides what is tried again. */
export interface Exporter {
  /** Where to, for warnings. */
  readonly name: string;
  sendSpans(spans: readonly EndedSpan[], signal: AbortSignal): Promise<Rejection | undefined>;
  sendMetrics(
    measured: readonly Measured[],
    moment: { readonly startedAt: number; readonly at: number },
    signal: AbortSignal,
  ): Promise<Rejection | undefined>;
  close(): Promise<void>;
}

/** What a collector did not take of what it received. */
export interface Rejection {
  readonly count: number;
  /** Its own words. */
  readonly message: string;
}

/** A collector asks to be tried again later. */
export class TryLater extends Error {
  override readonly name = 'TryLater';

  constructor(
    message: string,
    /** How long the receiver asks to wait, if it does. */
    readonly afterMs?: number,
  ) {
    super(message);
  }
}
