import type { PublishedEvent } from './published-event.js';

/** An ephemeral event and where it stood: after the stored record of that seq. */
export interface EphemeralRecord {
  readonly afterSeq: number;
  readonly number: number;
  readonly published: PublishedEvent;
}

const mostKept = 512;

/** The newest ephemeral events of a session, for those who read its log by cursor; kept from the first such reader on. */
export class EphemeralEvents {
  private events: EphemeralRecord[] = [];
  private count = 0;
  /** Set by the first reader. */
  isWanted = false;

  /** Grows by one with each ephemeral event since the first reader. */
  get tail(): number {
    return this.count;
  }

  add(published: PublishedEvent, afterSeq: number): void {
    if (!this.isWanted) return;
    this.count += 1;
    this.events.push({ afterSeq, number: this.count, published });
    if (this.events.length > 2 * mostKept) this.events = this.events.slice(-mostKept);
  }

  after(number: number): readonly EphemeralRecord[] {
    return this.events.filter((event) => event.number > number);
  }
}
