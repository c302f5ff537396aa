import { randomUUID } from 'node:crypto';
import type { EventOf, SessionEvent } from '@groundcrew/protocol';

/** Between two connections of one session: what the second one brings waits until what was missed has been delivered. */
export class ReconnectGap {
  /** Received on the second connection, until the gap is closed. */
  private held: SessionEvent[] | undefined = [];
  /** Read from the log, and perhaps still to come as an event. */
  private readonly delivered = new Set<string>();

  /** `lastHeard`: the last stored event of the first connection; undefined when all events are to be delivered. */
  constructor(private readonly lastReceived: string | undefined) {}

  /** Whether the event may be delivered now: it does not have to wait, and has not been delivered. */
  passes(event: SessionEvent): boolean {
    this.held?.push(event);
    return this.held === undefined && !this.delivered.delete(event.id);
  }

  /**
   * All that is to be delivered now, in order: what the log has between the connections, then what waited.
   * That the session has become idle is no part of the log, and delivered anew if no listener has received it.
   */
  close(now: {
    readonly stored: readonly SessionEvent[];
    readonly isIdle: boolean;
  }): readonly SessionEvent[] {
    const held = this.held ?? [];
    this.held = undefined;
    const missed = this.missed(now.stored, new Set(held.map(({ id }) => id)));
    for (const { id } of missed) this.delivered.add(id);
    const all = [...missed, ...held];
    const isIdleMissed = now.isIdle && !held.some(({ type }) => type === 'session.idle');
    return isIdleMissed ? [...all, idleAfter(all.findLast(({ ephemeral }) => !ephemeral))] : all;
  }

  private missed(stored: readonly SessionEvent[], received: ReadonlySet<string>): readonly SessionEvent[] {
    const start = stored.findIndex(({ id }) => id === this.lastReceived);
    if (start < 0 && this.lastReceived !== undefined) return [];
    const end = stored.findIndex(({ id }, index) => index > start && received.has(id));
    return stored.slice(start + 1, end < 0 ? undefined : end);
  }
}

function idleAfter(last: SessionEvent | undefined): EventOf<'session.idle'> {
  return {
    id: randomUUID(),
    timestamp: new Date().toISOString(),
    parentId: last?.id ?? null,
    ephemeral: true,
    type: 'session.idle',
    data: {},
  };
}
