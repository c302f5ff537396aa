/** What one request of the peer brings with it besides its parameters. */
export interface Call {
  /** Aborted when the peer cancels this request or is gone. */
  readonly signal: AbortSignal;
  /** How long a large request was, in bytes; 0 for others. */
  readonly bodyBytes: number;
}

/** Makes its signal when it is first read: most handlers never do, and it costs more than the rest of a call. */
export class RunningCall implements Call {
  private controller: AbortController | undefined;

  constructor(readonly bodyBytes = 0) {}

  get signal(): AbortSignal {
    this.controller ??= new AbortController();
    return this.controller.signal;
  }

  abort(reason: unknown): void {
    this.controller ??= new AbortController();
    this.controller.abort(reason);
  }
}
