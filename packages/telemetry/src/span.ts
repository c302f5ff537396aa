import type { Sampling } from './settings.js';
import { newSpanId, newTraceId, type SpanContext } from './trace-context.js';

export type AttributeValue = string | number | boolean | readonly string[];
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Something that happened within a span. */
export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since 1970, with fractions. */
  readonly at: number;
  readonly attributes: Attributes;
}

/** A span that has ended, as exporters get it. */
export interface EndedSpan {
  readonly context: SpanContext;
  readonly parentId: string | undefined;
  readonly name: string;
  readonly isCall: boolean;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** Why it failed. */
  readonly failure?: string;
}

/** Where a span begins. */
export interface SpanStart {
  readonly name: string;
  readonly parent: SpanContext | undefined;
  readonly attributes: Attributes;
  /** It is a call of another service. */
  readonly isCall?: boolean;
  readonly at?: number;
  /** Where it stands, where that was decided before. */
  readonly context?: SpanContext;
}

/** A span under way. */
export class Span {
  readonly startedAt: number;
  private readonly attributes: Record<string, AttributeValue>;
  private readonly events: SpanEvent[] = [];
  private failure: string | undefined;
  private hasEnded = false;

  constructor(
    readonly context: SpanContext,
    private readonly start: SpanStart,
    private readonly ended: (span: EndedSpan) => void,
  ) {
    this.startedAt = start.at ?? now();
    this.attributes = { ...start.attributes };
  }

  set(attributes: Readonly<Record<string, AttributeValue | undefined>>): void {
    for (const [name, value] of Object.entries(attributes))
      if (value !== undefined) this.attributes[name] = value;
  }

  attribute(name: string): string | undefined {
    const value = this.attributes[name];
    return typeof value === 'string' ? value : undefined;
  }

  add(name: string, attributes: Attributes): void {
    if (this.events.length < mostEvents) this.events.push({ name, attributes, at: now() });
  }

  fail(message: string): void {
    this.failure = message;
  }

  /** Ends it, once; returns the seconds it took. */
  end(at = now()): number {
    const endedAt = Math.max(at, this.startedAt);
    const seconds = (endedAt - this.startedAt) / 1000;
    if (this.hasEnded) return seconds;
    this.hasEnded = true;
    if (!this.context.isSampled) return seconds;
    const { name, parent, isCall = false } = this.start;
    this.ended({
      context: this.context,
      parentId: parent?.spanId,
      name,
      isCall,
      startedAt: this.startedAt,
      endedAt,
      attributes: this.attributes,
      events: this.events,
      ...(this.failure !== undefined && { failure: this.failure }),
    });
    return seconds;
  }
}

/** A span has no more events than collectors take. */
const mostEvents = 128;

/** Milliseconds since 1970, finer than the clock of dates. */
export function now(): number {
  return performance.timeOrigin + performance.now();
}

/** Where a new span stands: in the trace of its parent, or in one of its own. */
export function contextUnder(parent: SpanContext | undefined, sampling: Sampling): SpanContext {
  if (!parent) {
    const traceId = newTraceId();
    return { traceId, spanId: newSpanId(), isSampled: isKept(traceId, sampling.ratio) };
  }
  const isSampled = sampling.followsParent ? parent.isSampled : isKept(parent.traceId, sampling.ratio);
  return { ...parent, spanId: newSpanId(), isSampled };
}

/** The same answer for a trace wherever it is asked: by the last eight digits of its id, as other tracers do. */
function isKept(traceId: string, ratio: number): boolean {
  return Number.parseInt(traceId.slice(-8), 16) / 2 ** 32 < ratio;
}
