import type { SessionEvent } from '@groundcrew/protocol';
import { appAgentId } from './app-calls.js';
import type { Delta } from './delta-frames.js';
import type { Draft, EphemeralDraft, SessionLog } from './session-log.js';
import { type AgentState, agentOf, type SessionState } from './state.js';

/** One agent's view of its session's log: what it writes carries its id, what it reads is its own part of the state. */
export class AgentLog {
  constructor(
    private readonly log: SessionLog,
    /** Undefined for the root agent. */
    readonly agentId?: string,
    /** The call that began the agent; undefined for the root agent. */
    private readonly parentToolCallId?: string,
  ) {}

  get sessionId(): string {
    return this.log.sessionId;
  }

  /** Whose conversation it is: a sub-agent's own, else the session's. */
  get conversationId(): string {
    return this.agentId === undefined || this.agentId === appAgentId ? this.sessionId : this.agentId;
  }

  /** What this agent's stored records add up to. */
  get state(): AgentState {
    return agentOf(this.log.state, this.agentId);
  }

  /** The same with all that was appended, stored or not yet. */
  get latest(): AgentState {
    return agentOf(this.log.latest, this.agentId);
  }

  /** The newest record of all that was appended, stored or not yet. */
  get latestSeq(): number {
    return this.log.latest.seq;
  }

  /** What the stored log adds up to for the whole session. */
  get session(): SessionState {
    return this.log.state;
  }

  /** The same with all that was appended, stored or not yet. */
  get latestSession(): SessionState {
    return this.log.latest;
  }

  /** Joins these to the next commit; clients receive them after it. */
  append(...drafts: readonly Draft[]): readonly SessionEvent[] {
    return this.log.append(
      ...(this.agentId === undefined ? drafts : drafts.map((draft) => this.stamped(draft))),
    );
  }

  /** Sends without storing, but never ahead of what was appended before. */
  emit(draft: EphemeralDraft): string {
    return this.log.emit(this.agentId === undefined ? draft : this.stamped(draft));
  }

  emitDelta(delta: Delta): void {
    this.log.emitDelta(delta, this.agentId, this.parentToolCallId);
  }

  /** Resolves when all that was appended so far is stored; rejects when it could not be. */
  stored(): Promise<void> {
    return this.log.stored();
  }

  /** Resolves when all that was appended so far has been sent to clients. */
  published(): Promise<void> {
    return this.log.published();
  }

  private stamped<D extends Draft>(draft: D): D {
    const { agentId, parentToolCallId } = this;
    if ('note' in draft || parentToolCallId === undefined) return { ...draft, agentId };
    return { ...draft, agentId, data: { ...draft.data, parentToolCallId } };
  }
}
