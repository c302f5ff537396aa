import { setTimeout as pause } from 'node:timers/promises';
import { type Ask, judge, sendAppends, type Verdict } from './append.js';
import type { Connection } from './connection.js';
import { type Failpoint, reach } from './failpoints.js';
import { ConnectionLost, inDoubt, mayPass, NoConnection, storeFault } from './faults.js';
import type { Pool } from './pool.js';

/** What a batch stands on. */
export interface BatchOptions {
  readonly pool: Pool;
  /** The server, for users to read. */
  readonly name: () => string;
  readonly failpoint: Failpoint | undefined;
}

/** What became of an ask in the end; `version` is the fence of the next one. */
export type Outcome =
  | { readonly type: 'written'; readonly version: number | undefined }
  | { readonly type: 'failed'; readonly error: Error; readonly isInDoubt?: boolean };

interface Open {
  readonly ask: Ask;
  readonly index: number;
  /** A connection was lost after it was sent: it may be written already. */
  wasSent: boolean;
}

const retryPause = 20;

/**
 * Appends for several sessions, each to its end. When a connection is lost the asks are looked up before they are sent
 * again: so none is written twice, and none that was written is reported as failed.
 */
export async function runBatch(
  asks: readonly Ask[],
  deadline: number,
  options: BatchOptions,
): Promise<readonly Outcome[]> {
  return new Batch(asks, deadline, options).run();
}

class Batch {
  readonly #open: Set<Open>;
  readonly #outcomes: Outcome[] = [];

  constructor(
    asks: readonly Ask[],
    private readonly deadline: number,
    private readonly options: BatchOptions,
  ) {
    this.#open = new Set(asks.map((ask, index) => ({ ask, index, wasSent: false })));
  }

  async run(): Promise<readonly Outcome[]> {
    while (this.#open.size > 0) {
      try {
        await this.options.pool.use((connection) => this.#attempt(connection), this.deadline);
      } catch (error) {
        await this.#afterFault(error);
      }
    }
    return this.#outcomes;
  }

  /** Looks up what may be written already, sends the rest, and asks why some of it was refused. */
  async #attempt(connection: Connection): Promise<void> {
    await this.#judge(
      connection,
      [...this.#open].filter(({ wasSent }) => wasSent),
    );
    const sending = [...this.#open];
    if (sending.length > 0) await this.#send(connection, sending);
  }

  async #send(connection: Connection, sending: readonly Open[]): Promise<void> {
    const { failpoint } = this.options;
    const asks = sending.map(({ ask }) => ask);
    const answer = sendAppends(connection, asks).catch((error: unknown) => {
      if (error instanceof ConnectionLost) for (const open of sending) open.wasSent = true;
      throw error;
    });
    reach(failpoint, 'sent');
    const written = await answer;
    reach(failpoint, 'answered');
    const refused: Open[] = [];
    for (const [index, open] of sending.entries()) {
      const version = written.get(index);
      if (version === undefined) refused.push(open);
      else this.#settle(open, { type: 'written', version });
    }
    await this.#judge(connection, refused);
  }

  async #judge(connection: Connection, asked: readonly Open[]): Promise<void> {
    if (asked.length === 0) return;
    const verdicts = await judge(connection, asked);
    for (const [index, open] of asked.entries()) this.#close(open, verdicts[index]);
  }

  #close(open: Open, verdict: Verdict | undefined): void {
    if (verdict?.type === 'written') this.#settle(open, verdict);
    if (verdict?.type === 'refused') this.#settle(open, { type: 'failed', error: verdict.error });
  }

  #settle(open: Open, outcome: Outcome): void {
    this.#open.delete(open);
    this.#outcomes[open.index] = outcome;
  }

  async #afterFault(error: unknown): Promise<void> {
    const isLost = error instanceof ConnectionLost;
    const isOver = performance.now() >= this.deadline;
    if ((isLost || mayPass(error)) && !isOver) {
      if (!isLost) await pause(retryPause);
      return;
    }
    if (!isLost && !isOver && !(error instanceof NoConnection) && this.#open.size > 1) await this.#oneByOne();
    else this.#giveUp(error);
  }

  /** One of them has something that the server does not take: the others are not to fail with it. */
  async #oneByOne(): Promise<void> {
    for (const open of [...this.#open]) {
      const [outcome] = await runBatch([open.ask], this.deadline, this.options);
      if (outcome) this.#settle(open, outcome);
    }
  }

  #giveUp(error: unknown): void {
    const name = this.options.name();
    for (const open of [...this.#open]) {
      const fault = open.wasSent ? inDoubt(open.ask.sessionId, name) : storeFault(error, name);
      this.#settle(open, { type: 'failed', error: fault, isInDoubt: open.wasSent });
    }
  }
}
