import type { Told } from './published-event.js';

/** An ephemeral event and where it stood: after the stored record of that seq. */
export interface RecentEvent {
  readonly afterSeq: number;
  readonly number: number;
  readonly told: Told;
}

const mostRecent = 512;

/** The newest ephemeral events of a session, for those who read its log by cursor; kept from the first such reader on. */
export class RecentEvents {
  private events: RecentEvent[] = [];
  private count = 0;
  /** Set by the first reader. */
  isWanted = false;

  /** Grows by one with each ephemeral event since the first reader. */
  get tail(): number {
    return this.count;
  }

  hear(told: Told, afterSeq: number): void {
    if (!this.isWanted) return;
    this.count += 1;
    this.events.push({ afterSeq, number: this.count, told });
    if (this.events.length > 2 * mostRecent) this.events = this.events.slice(-mostRecent);
  }

  after(number: number): readonly RecentEvent[] {
    return this.events.filter((event) => event.number > number);
  }
}
