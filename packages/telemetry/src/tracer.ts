import type { TelemetrySettings } from './settings.js';
import { type AttributeValue, contextUnder, type EndedSpan, Span, type SpanStart } from './span.js';
import type { SpanContext } from './trace-context.js';

interface TracerParts {
  readonly settings: TelemetrySettings;
  mask(text: string): string;
  ended(span: EndedSpan): void;
}

/** The longest text of a failure, in characters. */
const longestFailure = 4096;

/** Begins spans, and decides which texts they may contain. */
export class Tracer {
  constructor(private readonly parts: TracerParts) {}

  /** Prompts, answers, arguments and results may go out. */
  get capturesContent(): boolean {
    return this.parts.settings.capturesContent;
  }

  /** What may be said of a failure: its words may repeat a prompt, so they are content too. */
  failureText(message: string | undefined, otherwise: string): string {
    return this.capturesContent && message ? message.slice(0, longestFailure) : otherwise;
  }

  get version(): string {
    return this.parts.settings.version;
  }

  start(start: SpanStart): Span {
    const context = start.context ?? this.contextUnder(start.parent);
    return new Span(context, start, (span) => this.parts.ended(this.masked(span)));
  }

  /** Where a span will stand that has not begun yet. */
  contextUnder(parent: SpanContext | undefined): SpanContext {
    return contextUnder(parent, this.parts.settings.sampling);
  }

  private masked(span: EndedSpan): EndedSpan {
    const { failure } = span;
    return {
      ...span,
      name: this.text(span.name),
      attributes: this.all(span.attributes),
      events: span.events.map((event) => ({ ...event, attributes: this.all(event.attributes) })),
      ...(failure !== undefined && { failure: this.text(failure) }),
    };
  }

  private all(attributes: Readonly<Record<string, AttributeValue>>): Record<string, AttributeValue> {
    return Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, this.value(value)]));
  }

  private value(value: AttributeValue): AttributeValue {
    if (typeof value === 'string') return this.text(value);
    return Array.isArray(value) ? value.map((each: string) => this.text(each)) : value;
  }

  private text(text: string): string {
    const { mask, settings } = this.parts;
    const masked = mask(text);
    return masked.length > settings.mostText ? masked.slice(0, settings.mostText) : masked;
  }
}
