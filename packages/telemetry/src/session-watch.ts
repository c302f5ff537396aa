import type { Observer, PublishedEvent } from '@groundcrew/runtime';
import { type Answered, WatchedAgent } from './agent-watch.js';
import { eventSpans } from './event-spans.js';
import type { OpenSpans } from './open-spans.js';
import { readContext } from './trace-context.js';

/** Makes spans of what agents do and of the events that sessions publish. */
export class SessionWatch implements Observer {
  constructor(private readonly open: OpenSpans) {}

  begin(...[agent, trace]: Parameters<Observer['begin']>): WatchedAgent {
    const { sessionId, agentId, toolCallId } = agent;
    const above = toolCallId === undefined ? undefined : this.open.placeOf(sessionId, toolCallId);
    const watched = new WatchedAgent(agent, above ?? readContext(trace), this.open);
    this.open.addAgent(sessionId, agentId, watched);
    return watched;
  }

  published(published: PublishedEvent): void {
    const make = eventSpans[published.type];
    // Most of what streams by is not looked into.
    make?.(published.event, { sessionId: published.sessionId, watch: this.open });
  }

  /** A model has answered an agent. */
  answered(spanId: string | undefined, answer: Answered): void {
    if (spanId !== undefined) this.open.agentAt(spanId)?.answered(answer);
  }
}
