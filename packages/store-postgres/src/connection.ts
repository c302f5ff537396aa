import type { Client, QueryConfig } from 'pg';
import type { Address } from './address.js';
import { ConnectionLost, isRefusal } from './faults.js';
import { inSchema } from './schema.js';

/** A statement; one with a name is prepared once on each connection. */
export interface Statement {
  readonly name?: string;
  readonly text: string;
  readonly values?: readonly unknown[];
}

/** What the server says of itself when a connection begins. */
export interface ServerFacts {
  readonly isStandby: boolean;
  /** As `server_version_num`: 150004 for 15.4. */
  readonly version: number;
  readonly encoding: string;
  /** What the server would have done by itself; the connection has it at `on` or more. */
  readonly synchronousCommit: string;
  readonly fsync: string;
}

/** How long is waited for, in milliseconds. */
export interface TimeLimits {
  /** For a connection to be made and to say who it is. */
  readonly connect: number;
  /** For the answer to one statement, by our clock; then the connection is given up. The server ends it a little earlier. */
  readonly answer: number;
  /** For a lock that another writer holds, by the server's clock. */
  readonly lock: number;
}

/** Who notices whether the server answers. */
export interface ConnectionWatch {
  onLost?(): void;
  /** Any answer, a refusal too. */
  onAnswer?(): void;
  /** A statement was not answered for as long as answers may take. */
  onSilence?(): void;
}

/** What a connection is opened with. */
export interface OpenOptions extends ConnectionWatch {
  readonly limits: TimeLimits;
  /** The connection is not wanted any more. */
  readonly signal?: AbortSignal;
}

/** One connection to a server: every call ends, by an answer or by giving the connection up. */
export class Connection {
  #isOpen = true;
  #answeredAt = performance.now();

  private constructor(
    private readonly client: Client,
    readonly address: Address,
    readonly facts: ServerFacts,
    private readonly limits: TimeLimits,
    private readonly watch: ConnectionWatch,
  ) {
    client.on('error', () => this.drop());
    client.on('end', () => this.drop());
  }

  /** Connects and demands that a commit is on disk, and on synchronous standbys, before it is answered. */
  static async open(address: Address, { limits, signal, ...watch }: OpenOptions): Promise<Connection> {
    const { Client, types } = await import('pg');
    const client = new Client({
      connectionString: address.url,
      connectionTimeoutMillis: limits.connect,
      keepAlive: true,
      keepAliveInitialDelayMillis: 5_000,
      application_name: 'groundcrew',
      types: { getTypeParser: (oid, format) => (oid === int8 ? Number : types.getTypeParser(oid, format)) },
    });
    // One that fails before it is a Connection says so by its promise.
    client.on('error', () => undefined);
    const stop = () => destroy(client);
    signal?.addEventListener('abort', stop, { once: true });
    try {
      signal?.throwIfAborted();
      await within(limits.connect, client.connect(), () => destroy(client));
      const result = await within(
        limits.connect,
        client.query<ServerFacts>(beginning, [`${Math.round(limits.answer * 0.8)}`, `${limits.lock}`]),
        () => destroy(client),
      );
      const [facts] = result.rows;
      if (!facts) throw new Error('the server did not say who it is');
      return new Connection(client, address, facts, limits, watch);
    } catch (error) {
      destroy(client);
      throw error;
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** When the server answered last, by `performance.now()`. */
  get answeredAt(): number {
    return this.#answeredAt;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** The rows of a statement. Throws what the server answered, or ConnectionLost. */
  async all<Row>(statement: Statement): Promise<readonly Row[]> {
    if (!this.#isOpen) throw new ConnectionLost('the connection was closed');
    const { name, values } = statement;
    const { schema } = this.address;
    const text = schema === undefined ? statement.text : inSchema(statement.text, schema);
    const config: QueryConfig = { text, ...(name && { name }), ...(values && { values: [...values] }) };
    try {
      const asked = this.client.query(config);
      const { rows } = await within(this.limits.answer, asked, () => this.#fellSilent());
      this.#answered();
      return rows as readonly Row[]; // the caller names the type of what its SQL selects
    } catch (error) {
      if (isRefusal(error)) {
        this.#answered();
        throw error;
      }
      this.drop();
      throw new ConnectionLost(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  /** Does the work in one transaction; what it throws undoes it. */
  async transaction<T>(work: () => Promise<T>): Promise<T> {
    await this.all({ text: 'BEGIN' });
    try {
      const value = await work();
      await this.all({ text: 'COMMIT' });
      return value;
    } catch (error) {
      if (this.#isOpen) await this.all({ text: 'ROLLBACK' }).catch(() => this.drop());
      throw error;
    }
  }

  #answered(): void {
    this.#answeredAt = performance.now();
    this.watch.onAnswer?.();
  }

  #fellSilent(): void {
    this.watch.onSilence?.();
    this.drop();
  }

  /** Gives it up at once; the server notices by itself. */
  drop(): void {
    if (this.#isOpen) this.watch.onLost?.();
    this.#isOpen = false;
    destroy(this.client);
  }

  /** Says goodbye; takes no longer than an answer may. */
  async close(): Promise<void> {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    await within(closingPatience, this.client.end(), () => destroy(this.client)).catch(() =>
      destroy(this.client),
    );
  }
}

const int8 = 20;
const closingPatience = 1_000;

/**
 * One round trip: what must be known of a server, and what must hold on each connection. A node that is cut off in the middle
 * of a transaction holds no lock for longer than others wait for one.
 */
const beginning = `
  SELECT pg_is_in_recovery() AS "isStandby",
    current_setting('server_version_num')::int AS version,
    current_setting('server_encoding') AS encoding,
    current_setting('synchronous_commit') AS "synchronousCommit",
    current_setting('fsync') AS fsync,
    set_config('synchronous_commit',
      CASE WHEN current_setting('synchronous_commit') = 'remote_apply' THEN 'remote_apply' ELSE 'on' END, false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('statement_timeout', $1, false),
    set_config('lock_timeout', $2, false),
    set_config('idle_in_transaction_session_timeout', $2, false)`;

/** Rejects when it takes longer, after `giveUp`. */
async function within<T>(milliseconds: number, work: Promise<T>, giveUp: () => void): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new ConnectionLost(`no answer for ${milliseconds / 1000} s`));
      giveUp();
    }, milliseconds);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

/** The library has no public way to end a connection without waiting for the server. */
function destroy(client: Client): void {
  const { connection } = client as unknown as { connection?: { stream?: { destroy(): void } } };
  connection?.stream?.destroy();
}
