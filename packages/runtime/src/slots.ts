/** How many may work at once; others wait in the order in which they came. */
export class Slots {
  private taken = 0;
  private readonly waiting: (() => void)[] = [];

  constructor(private readonly most: () => number) {}

  get isFull(): boolean {
    return this.taken >= this.most();
  }

  /** Resolves with what gives the place back; rejects when the signal aborts before there is one. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.isFull || this.waiting.length > 0) {
      await this.turn(signal);
      return this.place();
    }
    return this.takeAnyway();
  }

  /** A place for one that had one before, be there room or not. */
  takeAnyway(): () => void {
    this.taken += 1;
    return this.place();
  }

  /** There may be more places than before. */
  refresh(): void {
    while (this.waiting.length > 0 && !this.isFull) {
      // The place is taken for the one that is called, before any other can see that it is free.
      this.taken += 1;
      this.waiting.shift()?.();
    }
  }

  private place(): () => void {
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      this.taken -= 1;
      this.refresh();
    };
  }

  private turn(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', stop);
        resolve();
      };
      const stop = () => {
        const index = this.waiting.indexOf(go);
        if (index >= 0) this.waiting.splice(index, 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', stop, { once: true });
      this.waiting.push(go);
    });
  }
}
