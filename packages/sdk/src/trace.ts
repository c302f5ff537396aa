/** A place in a distributed trace, as W3C Trace Context spells it. */
export interface TraceContext {
  readonly traceparent?: string;
  readonly tracestate?: string;
}
