import type { WatchedAgent } from './agent-watch.js';
import type { Meter } from './meter.js';
import { attributes as names } from './names.js';
import type { Span } from './span.js';
import type { SpanContext } from './trace-context.js';
import type { Tracer } from './tracer.js';

/** A session that is never closed must not make what is open grow without bound. */
const mostOpen = 10_000;

/** What is under way: agents, and spans whose end will be another event. */
export class OpenSpans {
  readonly tracer: Tracer;
  readonly meter: Meter;
  /** By session and agent: the newest, which events without another place belong to. */
  private readonly agents = new Map<string, WatchedAgent>();
  private readonly bySpan = new Map<string, WatchedAgent>();
  /** By session and their own id. */
  private readonly open = new Map<string, Span>();
  /** Where calls stand that began agents: those may end after them. */
  private readonly places = new Map<string, SpanContext>();

  constructor({ tracer, meter }: { readonly tracer: Tracer; readonly meter: Meter }) {
    this.tracer = tracer;
    this.meter = meter;
  }

  addAgent(sessionId: string, agentId: string | undefined, watched: WatchedAgent): void {
    const key = agentKey(sessionId, agentId);
    this.agents.set(key, watched);
    this.bySpan.set(watched.context.spanId, watched);
    watched.onEnd(() => {
      this.bySpan.delete(watched.context.spanId);
      if (this.agents.get(key) === watched) this.agents.delete(key);
    });
  }

  /** The agent that a span is of. */
  agentAt(spanId: string): WatchedAgent | undefined {
    return this.bySpan.get(spanId);
  }

  /** The agent that an event belongs to, if one is at work. */
  agentOf(
    sessionId: string,
    { agentId }: { readonly agentId?: string | undefined },
  ): WatchedAgent | undefined {
    return this.agents.get(agentKey(sessionId, agentId));
  }

  /** Keeps a span until its end is published. */
  keep(sessionId: string, id: string, span: Span): void {
    // What was left open longest is over for telemetry; what begins now is not lost for it.
    const [oldest] = this.open.keys();
    if (this.open.size >= mostOpen && oldest !== undefined) {
      this.open.get(oldest)?.end();
      this.open.delete(oldest);
    }
    this.open.set(`${sessionId} ${id}`, span);
  }

  find(sessionId: string, id: string): Span | undefined {
    return this.open.get(`${sessionId} ${id}`);
  }

  take(sessionId: string, id: string): Span | undefined {
    const span = this.find(sessionId, id);
    this.open.delete(`${sessionId} ${id}`);
    return span;
  }

  /** Ends what a session has left open: it is over. */
  endAll(sessionId: string, at: number): void {
    for (const [key, span] of this.open) {
      if (!key.startsWith(`${sessionId} `)) continue;
      span.set({ [names.aborted]: true });
      span.end(at);
      this.open.delete(key);
    }
    for (const key of this.places.keys()) if (key.startsWith(`${sessionId} `)) this.places.delete(key);
  }

  /** Where a call stands; chosen by who asks first: its event, its agent, or an agent that it began. */
  place(sessionId: string, toolCallId: string, make: () => SpanContext): SpanContext {
    const known = this.placeOf(sessionId, toolCallId);
    if (known) return known;
    const made = make();
    const [oldest] = this.places.keys();
    if (this.places.size >= mostOpen && oldest !== undefined) this.places.delete(oldest);
    this.places.set(`${sessionId} ${toolCallId}`, made);
    return made;
  }

  /** Ends all that is open: the process ends. */
  close(): void {
    for (const span of this.open.values()) span.end();
    for (const agent of [...this.bySpan.values()]) agent.end(new Error('The runtime was ended'));
    this.open.clear();
  }

  placeOf(sessionId: string, toolCallId: string): SpanContext | undefined {
    return this.places.get(`${sessionId} ${toolCallId}`);
  }
}

function agentKey(sessionId: string, agentId: string | undefined): string {
  return `${sessionId} ${agentId ?? ''}`;
}
