import type { Connection } from './connection.js';
import { isDemoted, NoConnection } from './faults.js';
import type { Primary } from './primary.js';

/** What a pool stands on. */
export interface PoolOptions {
  readonly primary: Primary;
  /** At most so many connections. */
  readonly size: number;
}

/** How long a connection that is not used stays open, in milliseconds. */
const idleLimit = 60_000;

/** A few connections to the primary, opened when they are needed; callers wait in line for one. */
export class Pool {
  readonly #options: PoolOptions;
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #closing = new AbortController();
  #inUse = 0;
  #idleTimer: NodeJS.Timeout | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /**
   * Does the work on a connection of its own. Throws NoConnection when none is to be had before `deadline`; after that
   * the work itself says what went wrong.
   */
  async use<T>(work: (connection: Connection) => Promise<T>, deadline: number): Promise<T> {
    const connection = await this.#take(deadline);
    try {
      return await work(connection);
    } catch (error) {
      if (isDemoted(error)) {
        this.#options.primary.demoted(connection.address);
        connection.drop();
      }
      throw error;
    } finally {
      this.#give(connection);
    }
  }

  /** Ends idle connections at once, those in use when they come back. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearTimeout(this.#idleTimer);
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all(this.#idle.splice(0).map((connection) => connection.close()));
  }

  async #take(deadline: number): Promise<Connection> {
    if (this.#inUse < this.#options.size) this.#inUse += 1;
    else await this.#turn(deadline);
    try {
      if (this.#closing.signal.aborted) throw new NoConnection('the store is closed');
      for (let idle = this.#idle.pop(); idle; idle = this.#idle.pop()) {
        if (idle.isOpen && !this.#options.primary.isSilent(idle)) return idle;
        idle.drop();
      }
      return await this.#options.primary.connect(deadline, this.#closing.signal);
    } catch (error) {
      this.#leave();
      throw error;
    }
  }

  /** Resolves with the place of a caller that has left. */
  async #turn(deadline: number): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(
        () => {
          this.#waiting.splice(this.#waiting.indexOf(wake), 1);
          reject(new NoConnection(`all ${this.#options.size} connections are in use`));
        },
        Math.max(0, deadline - performance.now()),
      );
      this.#waiting.push(wake);
    });
  }

  #give(connection: Connection): void {
    if (this.#closing.signal.aborted) void connection.close();
    else if (connection.isOpen) {
      this.#idle.push(connection);
      this.#closeIdleLater();
    }
    this.#leave();
  }

  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next();
    else this.#inUse -= 1;
  }

  #closeIdleLater(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => {
      for (const connection of this.#idle.splice(0)) void connection.close();
    }, idleLimit).unref();
  }
}
