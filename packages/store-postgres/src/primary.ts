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
/** How long one server may say nothing before the next is tried beside it. A primary that is only slow is not left for another. */
const headStart = 1_000;
/** A caller whose time is nearly over has at least so long: enough for the second server. */
const leastTime = 2_000;

/** What came of trying one server. */
interface Tried {
  readonly index: number;
  readonly connection?: Connection;
  /** Why there is none. */
  readonly reason: string;
  /** What the server answered, where waiting is no help: a wrong password, a database that is missing. */
  readonly refusal?: unknown;
}

/** Connects to whichever of several servers is the primary now, again and again until the caller's time is over. */
export class Primary {
  /** The one that was the primary last is asked first. */
  #last = 0;
  /** When a server was asked what it did not answer. */
  readonly #silences = new Map<Address, number>();

  constructor(private readonly options: PrimaryOptions) {}

  /** For users to read: the server in use, or the first to be tried. */
  get name(): string {
    return this.options.addresses[this.#last]?.name ?? 'PostgreSQL';
  }

  /** Throws NoConnection after `deadline`, by `performance.now()`; StoreError, or what the server says, where waiting is no help. */
  async connect(deadline: number, signal: AbortSignal): Promise<Connection> {
    for (let attempt = 0; ; attempt += 1) {
      const left = AbortSignal.timeout(Math.max(leastTime, Math.ceil(deadline - performance.now())));
      const { connection, reason } = await this.#tryAll(AbortSignal.any([signal, left]));
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

  /** Whether the server was asked something on another connection, after it answered on this one last, and never answered. */
  isSilent({ address, answeredAt }: Connection): boolean {
    return (this.#silences.get(address) ?? Number.NEGATIVE_INFINITY) > answeredAt;
  }

  /** The first of all servers that is the primary. One that says nothing holds up no other for long. */
  async #tryAll(signal: AbortSignal): Promise<Pick<Tried, 'connection' | 'reason'>> {
    const { addresses } = this.options;
    const over = new AbortController();
    const stop = AbortSignal.any([signal, over.signal]);
    const rest = addresses.map((_, offset) => (this.#last + offset) % addresses.length);
    const pending = new Map<number, Promise<Tried>>();
    const failed: Tried[] = [];
    try {
      while (rest.length + pending.size > 0) {
        const next = rest.shift();
        if (next !== undefined) pending.set(next, this.#try(next, stop));
        const tried = await firstOf(pending.values(), rest.length > 0 ? headStart : undefined);
        if (!tried) continue;
        pending.delete(tried.index);
        if (tried.connection) {
          this.#last = tried.index;
          return tried;
        }
        failed.push(tried);
      }
    } finally {
      over.abort();
      for (const late of pending.values()) void late.then(closeLate, () => undefined);
    }
    const [first] = failed;
    if (first && failed.every(({ refusal }) => refusal !== undefined)) throw first.refusal;
    const reasons = failed.map(({ index, reason }) => `${addresses[index]?.name}: ${reason}`);
    return { reason: addresses.length === 1 ? (first?.reason ?? '') : reasons.join('; ') };
  }

  /** The connection, or why there is none now. Throws what a primary that cannot be used at all makes clear. */
  async #try(index: number, signal: AbortSignal): Promise<Tried> {
    const { limits, outages, addresses } = this.options;
    const address = addresses[index];
    if (!address) return { index, reason: 'there is no such address' };
    const openedAt = performance.now();
    let connection: Connection | undefined;
    try {
      connection = await Connection.open(address, {
        limits,
        signal,
        onLost: () => outages.lost(),
        onAnswer: () => outages.answered(openedAt),
        onSilence: () => this.#fellSilent(address),
      });
      if (connection.facts.isStandby) {
        await connection.close();
        return { index, reason: 'it is a standby' };
      }
      await this.options.examine(connection);
      outages.answered(openedAt);
      return { index, connection, reason: '' };
    } catch (error) {
      await connection?.close();
      const isFinal = isRefusal(error) && !mayPass(error);
      if (error instanceof StoreError || (isFinal && connection)) throw error;
      const reason = error instanceof Error ? error.message || error.name : String(error);
      if (isFinal) return { index, reason, refusal: error };
      return { index, reason: signal.aborted ? 'it did not answer in time' : reason };
    }
  }

  #fellSilent(address: Address): void {
    this.#silences.set(address, performance.now() - this.options.limits.answer);
    this.demoted(address);
  }
}

async function closeLate({ connection }: Tried): Promise<void> {
  await connection?.close();
}

/** The first that is settled; undefined when none is within the time. */
async function firstOf<T>(pending: Iterable<Promise<T>>, milliseconds?: number): Promise<T | undefined> {
  if (milliseconds === undefined) return Promise.race(pending);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), milliseconds);
  });
  return Promise.race([...pending, late]).finally(() => clearTimeout(timer));
}
