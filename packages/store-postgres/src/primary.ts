import { setTimeout as pause } from 'node:timers/promises';
import { StoreError } from '@groundcrew/store';
import type { Address } from './address.js';
import { Connection, type TimeLimits } from './connection.js';
import { isRefusal, mayPass, NoConnection } from './faults.js';
import type { Outages } from './outages.js';

/** What finding the primary needs. */
export interface PrimaryOptions {
  readonly addresses: readonly Address[];
  readonly limits: TimeLimits;
  /** Looks at a new connection before it is used; throws when the server is not to be used at all. */
  readonly examine: (connection: Connection) => Promise<void>;
  readonly outages: Outages;
}

const shortestPause = 50;
const longestPause = 1_000;

/** Connects to whichever of several servers is the primary now, again and again until the caller's time is over. */
export class Primary {
  /** The one that was the primary last is asked first. */
  #last = 0;

  constructor(private readonly options: PrimaryOptions) {}

  /** For users to read: the server in use, or the first to be tried. */
  get name(): string {
    return this.options.addresses[this.#last]?.name ?? 'PostgreSQL';
  }

  /** Throws NoConnection after `deadline`, by `performance.now()`; StoreError, or what the server says, where waiting is no help. */
  async connect(deadline: number, signal: AbortSignal): Promise<Connection> {
    for (let attempt = 0; ; attempt += 1) {
      const { connection, reason } = await this.#tryAll();
      if (connection) return connection;
      this.options.outages.lost();
      const wait = Math.min(longestPause, shortestPause * 2 ** attempt) * (0.5 + Math.random() / 2);
      if (signal.aborted || performance.now() + wait >= deadline) throw new NoConnection(reason);
      await pause(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Another server is tried first from now on: this one no longer takes writes. */
  demoted(address: Address): void {
    const index = this.options.addresses.indexOf(address);
    if (index === this.#last) this.#last = (index + 1) % this.options.addresses.length;
  }

  async #tryAll(): Promise<{ readonly connection?: Connection; readonly reason: string }> {
    const { addresses } = this.options;
    const reasons: string[] = [];
    for (let offset = 0; offset < addresses.length; offset += 1) {
      const index = (this.#last + offset) % addresses.length;
      const address = addresses[index];
      if (!address) continue;
      const tried = await this.#try(address);
      if (tried instanceof Connection) {
        this.#last = index;
        return { connection: tried, reason: '' };
      }
      reasons.push(addresses.length === 1 ? tried : `${address.name}: ${tried}`);
    }
    return { reason: reasons.join('; ') };
  }

  /** The connection, or why there is none now. */
  async #try(address: Address): Promise<Connection | string> {
    const { limits, outages } = this.options;
    const openedAt = performance.now();
    let connection: Connection | undefined;
    try {
      connection = await Connection.open(address, {
        limits,
        onLost: () => outages.lost(),
        onAnswer: () => outages.answered(openedAt),
      });
      if (connection.facts.isStandby) {
        await connection.close();
        return 'it is a standby';
      }
      await this.options.examine(connection);
      outages.answered(openedAt);
      return connection;
    } catch (error) {
      await connection?.close();
      if (error instanceof StoreError || (isRefusal(error) && !mayPass(error))) throw error;
      return error instanceof Error ? error.message || error.name : String(error);
    }
  }
}
