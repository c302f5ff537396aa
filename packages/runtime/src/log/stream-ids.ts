import type { Clock } from '../clock.js';

/** Ids of one random origin have this many; then comes another. */
const perOrigin = 0x1000;

/** UUIDs for events that stream by: a new one each would cost more than the event. All of one origin share their first digits. */
export class StreamIds {
  private origin = '';
  private count = perOrigin;

  constructor(private readonly clock: Pick<Clock, 'newId'>) {}

  next(): string {
    if (this.count === perOrigin) {
      this.origin = this.clock.newId().slice(0, -3);
      this.count = 0;
    }
    const digits = (perOrigin + this.count).toString(16).slice(1);
    this.count += 1;
    return `${this.origin}${digits}`;
  }
}
