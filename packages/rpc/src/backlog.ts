/** Counts what a peer has not taken yet, and says when a sender should hold back and when it may go on. */
export class Backlog {
  private queued = 0;
  private behind = false;
  private ended = false;
  private waiting: (() => void)[] = [];

  /** Over `highWaterMark` bytes the peer is behind; at half of it, it has caught up. */
  constructor(private readonly highWaterMark: number = 1024 * 1024) {}

  get bytes(): number {
    return this.queued;
  }

  /** Returns whether there is room for more. */
  add(bytes: number): boolean {
    if (this.ended) return false;
    this.queued += bytes;
    if (this.queued > this.highWaterMark) this.behind = true;
    return !this.behind;
  }

  remove(bytes: number): void {
    if (this.ended) return;
    this.queued -= bytes;
    if (this.behind && this.queued <= this.highWaterMark / 2) this.release();
  }

  async drained(): Promise<void> {
    if (!this.behind) return;
    await new Promise<void>((resolve) => {
      this.waiting.push(resolve);
    });
  }

  /** Stops counting, and lets everyone go who waits. */
  end(): void {
    this.ended = true;
    this.queued = 0;
    this.release();
  }

  private release(): void {
    this.behind = false;
    const waiting = this.waiting;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
