import type { Owner } from '@groundcrew/store';
import { requireKnown, type SchemaVersion } from './migrate.js';
import type { Pool } from './pool.js';
import { processMark } from './process-mark.js';

/** How long a lease is valid and how often it is renewed, in milliseconds. */
export interface LeaseTimes {
  readonly validity: number;
  readonly renewal: number;
}

/** What leases stand on. */
export interface LeaseOptions extends LeaseTimes {
  /** Of their own: a renewal must not wait behind what is written. */
  readonly pool: Pool;
  readonly onWarning: (message: string) => void;
}

const holdText = `
  WITH held AS (
    INSERT INTO gc_node (id, pid, host, process, lease_until)
    SELECT * FROM unnest($1::text[], $2::int[], $3::text[], $4::text[]),
      LATERAL (SELECT clock_timestamp() + $5 * interval '1 millisecond') AS lease(until)
    ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until),
  forgotten AS (DELETE FROM gc_node WHERE lease_until < clock_timestamp() - interval '1 day')
  SELECT version, oldest_writer AS "oldestWriter" FROM gc_schema`;

/**
 * Shows other nodes that this one lives: a row for each runtime, valid for a few seconds by the clock of the database. Who
 * may write is never decided by it: a node that was taken for dead is fenced by the epochs of its sessions.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #owners = new Map<string, Owner>();
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Resolves when the runtime has a lease; renews it from then on. */
  async hold(owner: Owner, deadline: number): Promise<void> {
    if (this.#owners.has(owner.runtimeId)) return;
    await this.#write([owner], deadline);
    this.#owners.set(owner.runtimeId, owner);
    this.#timer ??= setInterval(() => this.#renew(), this.#options.renewal).unref();
  }

  /** Ends the leases: sessions that were not released count as left by a dead owner. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#renewing;
    const ids = [...this.#owners.keys()];
    if (ids.length === 0) return;
    const end = { text: 'DELETE FROM gc_node WHERE id = ANY($1)', values: [ids] };
    const deadline = performance.now() + this.#options.renewal;
    // Without it the lease ends by itself.
    await this.#options.pool.use((connection) => connection.all(end), deadline).catch(() => undefined);
  }

  #renew(): void {
    const { validity, onWarning } = this.#options;
    if (this.#isClosed) return;
    const owners = [...this.#owners.values()];
    const deadline = performance.now() + validity;
    this.#renewing = this.#renewing
      .then(() => (performance.now() < deadline ? this.#write(owners, deadline) : undefined))
      .then(
        () => {
          this.#isFailing = false;
        },
        (error: unknown) => {
          if (!this.#isFailing)
            onWarning(`The lease of this node could not be renewed: ${(error as Error).message}`);
          this.#isFailing = true;
        },
      );
  }

  async #write(owners: readonly Owner[], deadline: number): Promise<void> {
    await this.#options.pool.use(async (connection) => {
      const [schema] = await connection.all<SchemaVersion>({
        name: 'gc-lease',
        text: holdText,
        values: [
          owners.map(({ runtimeId }) => runtimeId),
          owners.map(({ pid }) => pid),
          owners.map(({ host }) => host),
          owners.map(({ pid }) => (pid === process.pid ? (processMark() ?? null) : null)),
          this.#options.validity,
        ],
      });
      if (schema) requireKnown(schema, { connection });
    }, deadline);
  }
}
