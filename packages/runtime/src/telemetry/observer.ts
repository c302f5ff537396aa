import type { PublishedEvent } from '../log/published-event.js';
import type { TraceContext } from '../settings/session-settings.js';

/** An agent that begins to work, as telemetry names it. */
export interface ObservedAgent {
  readonly sessionId: string;
  /** Undefined for the root agent. */
  readonly agentId?: string;
  readonly name?: string;
  readonly description?: string;
  /** The call that began it; undefined for the root agent. */
  readonly toolCallId?: string;
}

/** What telemetry sees of one agent at work. */
export interface AgentWatch {
  /** The context that the work of this agent belongs to: model calls and tools go out with it. */
  readonly trace: TraceContext;
  /** The context of one of its tool calls. */
  toolTrace(toolCallId: string): TraceContext;
  /** It has ended; with what ended it, where it did not end by itself. */
  end(failure?: unknown): void;
}

/** What watches the sessions of a runtime, where telemetry is on. Nothing it does may fail or delay their work. */
export interface Observer {
  /** An agent begins; `trace` is what its client, or the agent above it, works in. */
  begin(agent: ObservedAgent, trace: TraceContext): AgentWatch;
  /** An event that is stored, if it is durable, and goes to all clients. */
  published(published: PublishedEvent): void;
}
