/** A connection that was lost, by `performance.now()`. */
interface Loss {
  /** When the server had answered last. */
  readonly since: number;
  readonly at: number;
  /** When a new connection was answered. */
  readonly backAt?: number;
}

/**
 * Distinguishes a server that was away from a connection that was lost. After a loss the server counts as away, until a
 * connection from before is answered without a pause: then it never was, and its leases can be believed.
 */
export class Outages {
  #loss: Loss | undefined;
  #answeredAt = Number.NEGATIVE_INFINITY;
  #backAt = Number.NEGATIVE_INFINITY;

  /** By how long a lease is valid and how often it is renewed, in milliseconds. */
  constructor(private readonly lease: { readonly validity: number; readonly renewal: number }) {}

  /** The server is away, or came back so lately that nodes may not have renewed their leases. */
  get isGraceTime(): boolean {
    if (this.#loss && this.#loss.backAt === undefined) return true;
    return performance.now() - (this.#loss?.backAt ?? this.#backAt) < this.lease.validity;
  }

  /** A connection was lost, or could not be made. */
  lost(): void {
    if (this.#loss && this.#loss.backAt === undefined) return;
    this.#backAt = this.#loss?.backAt ?? this.#backAt;
    this.#loss = { since: this.#answeredAt, at: performance.now() };
  }

  /** A connection was answered that was opened then. */
  answered(openedAt: number): void {
    const now = performance.now();
    const loss = this.#loss;
    // In a pause so short all nodes still renew their leases in time.
    const hasPaused = loss && now - loss.since > (this.lease.validity - this.lease.renewal) / 2;
    if (loss && openedAt < loss.at && !hasPaused) this.#loss = undefined;
    else if (loss && loss.backAt === undefined) this.#loss = { ...loss, backAt: now };
    this.#answeredAt = now;
  }
}
