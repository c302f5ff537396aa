import type { NodeAnnouncement, Owner } from '@groundcrew/store';
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

/** A runtime with a lease; a node of a cluster says how it is reached. */
interface Holder {
  readonly owner: Owner;
  readonly announcement?: () => NodeAnnouncement;
}

const holdText = `
  WITH held AS (
    INSERT INTO gc_node (id, pid, host, process, address, labels, providers, figures, lease_until)
    SELECT id, pid, host, process, address, string_to_array(labels, E'\\n'), string_to_array(providers, E'\\n'), figures,
      clock_timestamp() + $9 * interval '1 millisecond'
    FROM unnest($1::text[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[])
      AS t(id, pid, host, process, address, labels, providers, figures)
    ON CONFLICT (id) DO UPDATE SET lease_until = excluded.lease_until, process = excluded.process,
      address = excluded.address, labels = excluded.labels, providers = excluded.providers,
      figures = excluded.figures),
  forgotten AS (
    DELETE FROM gc_node n WHERE n.lease_until < clock_timestamp() - interval '1 day'
      AND NOT EXISTS (SELECT 1 FROM gc_session s WHERE s.owner = n.id AND s.has_work))
  SELECT version, oldest_writer AS "oldestWriter" FROM gc_schema`;

/**
 * Shows other nodes that this one lives: a row for each runtime, valid for a few seconds by the clock of the database. Who
 * may write is never decided by it: a node that was taken for dead is fenced by the epochs of its sessions.
 */
export class Lease {
  readonly #options: LeaseOptions;
  readonly #owners = new Map<string, Holder>();
  readonly #onLapse: (() => void)[] = [];
  /** When the renewal was sent that was last answered. */
  #renewedAt = Number.NaN;
  #timer: NodeJS.Timeout | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #isFailing = false;
  #isClosed = false;

  constructor(options: LeaseOptions) {
    this.#options = options;
  }

  /** Resolves when the runtime has a lease; renews it from then on. */
  async hold(owner: Owner, deadline: number): Promise<void> {
    if (!this.#owners.has(owner.runtimeId)) await this.#hold({ owner }, deadline);
  }

  /** The same for a node of a cluster: others see how it is reached. Only its lease says whether it lives. */
  async announce(holder: Required<Holder>, deadline: number): Promise<void> {
    await this.#hold(holder, deadline);
  }

  /** Called when a renewal came too late. */
  onLapse(listener: () => void): void {
    this.#onLapse.push(listener);
  }

  async #hold(holder: Holder, deadline: number): Promise<void> {
    await this.#write([holder], deadline);
    this.#owners.set(holder.owner.runtimeId, holder);
    this.#timer ??= setInterval(() => this.#renew(), this.#options.renewal).unref();
  }

  /** Ends the leases: sessions that were not released count as left by a dead owner. Rows of nodes say whose they were. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#renewing;
    const ids = [...this.#owners.keys()];
    if (ids.length === 0) return;
    const end = {
      text: `WITH ended AS (
          UPDATE gc_node SET lease_until = clock_timestamp() - interval '1 minute'
          WHERE id = ANY($1) AND address IS NOT NULL)
        DELETE FROM gc_node WHERE id = ANY($1) AND address IS NULL`,
      values: [ids],
    };
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
      .then(() => (performance.now() < deadline ? this.#renewAll(owners, deadline) : undefined))
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

  async #renewAll(owners: readonly Holder[], deadline: number): Promise<void> {
    const before = this.#renewedAt;
    const now = performance.now();
    await this.#write(owners, deadline);
    this.#renewedAt = now;
    // Counted from when each was sent: the lease ends no sooner than that.
    if (performance.now() - before > this.#options.validity) for (const listener of this.#onLapse) listener();
  }

  async #write(owners: readonly Holder[], deadline: number): Promise<void> {
    const shown = owners.map(({ announcement }) => announcement?.());
    const lines = (texts: readonly string[] = []) => texts.filter((text) => !/[\n\0]/.test(text)).join('\n');
    await this.#options.pool.use(async (connection) => {
      const [schema] = await connection.all<SchemaVersion>({
        name: 'gc-lease',
        text: holdText,
        values: [
          owners.map(({ owner }) => owner.runtimeId),
          owners.map(({ owner }) => owner.pid),
          owners.map(({ owner }) => owner.host),
          owners.map((holder) => markOf(holder)),
          shown.map((node) => node?.address ?? null),
          shown.map((node) => lines(node?.labels)),
          shown.map((node) => lines(node?.providers)),
          shown.map((node) => (node ? JSON.stringify(node.figures) : null)),
          this.#options.validity,
        ],
      });
      if (schema) requireKnown(schema, { connection });
    }, deadline);
  }
}

/** Nodes of a cluster are judged by their leases alone, wherever they run. */
function markOf({ owner, announcement }: Holder): string | null {
  if (announcement || owner.pid !== process.pid) return null;
  return processMark() ?? null;
}
