/** W3C trace context, passed on to tools and model services. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
}

/** What belongs to one prompt of the user, from its delivery to its last model call. */
export class Interaction {
  /** Model calls begun so far. */
  rounds = 0;
  /** Bytes of text the model has streamed so far. */
  responseBytes = 0;
  /** The turn goes on where a process that died had left it. */
  isContinued = false;

  constructor(
    readonly id: string,
    readonly options: {
      /** HTTP headers the app wants on every model call of this prompt; they may be secret and are never stored. */
      readonly requestHeaders?: Readonly<Record<string, string>>;
      readonly trace: TraceContext;
    },
  ) {}

  /** The turn that runs now; `0` before the first. */
  get turnId(): string {
    return String(Math.max(0, this.rounds - 1));
  }
}
