import type { SessionEvent } from '@groundcrew/protocol';

/** Between two connections of one session: what the second one brings waits until what was missed is told. */
export class Gap {
  /** Heard on the second connection, until the gap is closed. */
  private held: SessionEvent[] | undefined = [];
  /** Told from the log, and perhaps still to be heard. */
  private readonly told = new Set<string>();

  /** `lastHeard`: the last stored event of the first connection. */
  constructor(private readonly lastHeard: string | undefined) {}

  /** Whether the event may be told now: it does not have to wait, and has not been told. */
  passes(event: SessionEvent): boolean {
    this.held?.push(event);
    return this.held === undefined && !this.told.delete(event.id);
  }

  /** All that is to be told now, in order: what the log has between the connections, then what waited. */
  close(stored: readonly SessionEvent[]): readonly SessionEvent[] {
    const held = this.held ?? [];
    this.held = undefined;
    const heard = new Set(held.map(({ id }) => id));
    const start = stored.findIndex(({ id }) => id === this.lastHeard);
    const later = start < 0 ? [] : stored.slice(start + 1);
    const end = later.findIndex(({ id }) => heard.has(id));
    const missed = end < 0 ? later : later.slice(0, end);
    for (const { id } of missed) this.told.add(id);
    return [...missed, ...held];
  }
}
