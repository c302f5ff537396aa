import {
  type AppendRequest,
  type LogRecord,
  requireConsecutive,
  StoreError,
  staleOwner,
} from '@groundcrew/store';
import type { Ask } from './append.js';
import { type BatchOptions, type Outcome, runBatch } from './append-batch.js';
import { reach } from './failpoints.js';

/** What a queue stands on. */
export interface WriteQueueOptions extends BatchOptions {
  /** So many batches of appends are under way at once. */
  readonly lanes: number;
  /** How long an operation may wait for the server, in milliseconds. */
  readonly patience: number;
  /** More than this may not wait; about the bytes of the records. */
  readonly mostBytes: number;
}

interface Append {
  readonly type: 'append';
  readonly request: AppendRequest;
  readonly bytes: number;
  readonly since: number;
  /** Set for one that had no place in the queue: it fails in its turn. */
  readonly refusal: StoreError | undefined;
  resolve(): void;
  reject(error: unknown): void;
}

interface Single {
  readonly type: 'single';
  readonly bytes: number;
  readonly since: number;
  run(deadline: number): Promise<void>;
}

type Operation = Append | Single;

/** Under which claim a session is written from here, and the fence of its next append. */
interface Hold {
  readonly epoch: number;
  version: number | undefined;
  /** An append was lost and could not be looked up: what the caller knows of the session may be wrong. */
  isInDoubt: boolean;
}

/** Appends of one session that follow upon one another, as one ask. */
interface Chain {
  readonly ask: Ask;
  readonly appends: readonly Append[];
}

const recordsPerBatch = 512;
const bytesPerBatch = 1024 * 1024;

/**
 * What is to be written, in order for each session: one operation of a session is under way at a time, whatever connection
 * it takes. What many sessions append in one tick, and while others are under way, is one batch.
 */
export class WriteQueue {
  readonly #options: WriteQueueOptions;
  readonly #sessions = new Map<string, Operation[]>();
  readonly #busy = new Set<string>();
  readonly #holds = new Map<string, Hold>();
  readonly #counts = { batches: 0, records: 0 };
  readonly #onEmpty: (() => void)[] = [];
  #bytes = 0;
  #batches = 0;
  #isScheduled = false;

  constructor(options: WriteQueueOptions) {
    this.#options = options;
  }

  /** Statements of appends, and records in them. */
  get counts(): { readonly batches: number; readonly records: number } {
    return { ...this.#counts };
  }

  /** Resolves when it is committed. */
  append(request: AppendRequest): Promise<void> {
    const bytes = weigh(request.records);
    return new Promise((resolve, reject) => {
      const refusal = this.#refusal(bytes);
      const since = performance.now();
      this.#add(request.sessionId, { type: 'append', request, bytes, since, refusal, resolve, reject });
    });
  }

  /** Does the work when all that was added before for the session is done. */
  single<T>(
    sessionId: string,
    work: (deadline: number) => Promise<T>,
    records: readonly LogRecord[] = [],
  ): Promise<T> {
    const bytes = weigh(records);
    return new Promise((resolve, reject) => {
      const refusal = records.length > 0 ? this.#refusal(bytes) : undefined;
      const run = async (deadline: number) => {
        if (refusal) throw refusal;
        resolve(await work(deadline));
      };
      this.#add(sessionId, {
        type: 'single',
        bytes,
        since: performance.now(),
        run: (deadline) => run(deadline).catch(reject),
      });
    });
  }

  /** The session is written under this claim from now on. */
  beginClaim(
    sessionId: string,
    { epoch, version }: { readonly epoch: number; readonly version: number },
  ): void {
    this.#holds.set(sessionId, { epoch, version, isInDoubt: false });
  }

  /** The session is no longer written under this claim; a later claim stays. */
  endClaim(sessionId: string, epoch?: number): void {
    if (epoch === undefined || this.#holds.get(sessionId)?.epoch === epoch) this.#holds.delete(sessionId);
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    if (this.#sessions.size > 0) await new Promise<void>((resolve) => this.#onEmpty.push(resolve));
  }

  /** One that is larger than all that may wait is taken when nothing else does. */
  #refusal(bytes: number): StoreError | undefined {
    const { mostBytes, name } = this.#options;
    if (this.#bytes === 0 || this.#bytes + bytes <= mostBytes) return undefined;
    const waiting = Math.round(this.#bytes / 1024);
    return new StoreError(
      'busy',
      `The session store ${name()} is behind: ${waiting} KiB wait to be written, and no more may; nothing was written. Try again.`,
    );
  }

  #add(sessionId: string, operation: Operation): void {
    const refused = operation.type === 'append' && operation.refusal !== undefined;
    if (!refused) this.#bytes += operation.bytes;
    const known = this.#sessions.get(sessionId);
    if (known) known.push(operation);
    else this.#sessions.set(sessionId, [operation]);
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      this.#start();
    });
  }

  /** Starts what may start: singles at once, appends in batches while there is a lane. */
  #start(): void {
    for (const [sessionId, [first]] of this.#sessions)
      if (first?.type === 'single' && !this.#busy.has(sessionId)) void this.#runSingle(sessionId, first);
    while (this.#batches < this.#options.lanes) {
      const chains = this.#takeBatch();
      if (chains.length === 0) return;
      void this.#runBatch(chains);
    }
  }

  async #runSingle(sessionId: string, single: Single): Promise<void> {
    this.#busy.add(sessionId);
    await single.run(single.since + this.#options.patience);
    this.#done(sessionId, [single]);
  }

  #takeBatch(): readonly Chain[] {
    const chains: Chain[] = [];
    let records = 0;
    let bytes = 0;
    for (const [sessionId, operations] of this.#sessions) {
      if (this.#busy.has(sessionId) || operations[0]?.type !== 'append') continue;
      const chain = this.#takeChain(sessionId, operations);
      if (!chain) continue;
      this.#busy.add(sessionId);
      chains.push(chain);
      records += chain.ask.records.length;
      bytes += chain.appends.reduce((sum, append) => sum + append.bytes, 0);
      if (records >= recordsPerBatch || bytes >= bytesPerBatch) break;
    }
    return chains;
  }

  /** The appends at the front that follow upon one another; those that cannot be sent fail here, in their turn. */
  #takeChain(sessionId: string, operations: readonly Operation[]): Chain | undefined {
    const appends: Append[] = [];
    const records: LogRecord[] = [];
    let bytes = 0;
    for (const operation of operations) {
      if (operation.type !== 'append') break;
      const { request } = operation;
      const [first] = appends;
      const follows =
        first &&
        request.epoch === first.request.epoch &&
        request.expectedSeq === first.request.expectedSeq + records.length;
      const isOver = records.length >= recordsPerBatch || bytes >= bytesPerBatch;
      const error = this.#faultOf(operation);
      if (first && (!follows || isOver || error)) break;
      if (error) {
        this.#fail(sessionId, operation, error);
        return undefined;
      }
      appends.push(operation);
      bytes += operation.bytes;
      for (const record of request.records) records.push(record);
    }
    const [first] = appends;
    const last = appends.at(-1);
    if (!first || !last) return undefined;
    const { epoch, expectedSeq } = first.request;
    const hold = this.#holds.get(sessionId);
    const version = hold?.epoch === epoch ? hold.version : undefined;
    const ask: Ask = { sessionId, epoch, expectedSeq, version, records, head: last.request.head };
    return { ask, appends };
  }

  /** Why an append is not even sent. */
  #faultOf({ request, refusal }: Append): unknown {
    const { sessionId, epoch, expectedSeq: after, records } = request;
    if (refusal) return refusal;
    const hold = this.#holds.get(sessionId);
    if (hold?.isInDoubt && hold.epoch === epoch) return staleOwner(sessionId);
    try {
      requireConsecutive(sessionId, { records, after });
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #fail(sessionId: string, append: Append, error: unknown): void {
    this.#busy.add(sessionId);
    append.reject(error);
    this.#done(sessionId, [append]);
  }

  async #runBatch(chains: readonly Chain[]): Promise<void> {
    const { patience, failpoint } = this.#options;
    this.#batches += 1;
    reach(failpoint, 'taken');
    const oldest = Math.min(...chains.map(({ appends }) => appends[0]?.since ?? 0));
    const asks = chains.map(({ ask }) => ask);
    const outcomes = await runBatch(asks, oldest + patience, this.#options);
    this.#batches -= 1;
    this.#counts.batches += 1;
    for (const [index, chain] of chains.entries()) this.#settle(chain, outcomes[index]);
    reach(failpoint, 'acknowledged');
  }

  #settle({ ask, appends }: Chain, outcome: Outcome | undefined): void {
    const { sessionId, epoch } = ask;
    const hold = this.#holds.get(sessionId);
    const held = hold?.epoch === epoch ? hold : undefined;
    if (outcome?.type === 'written') {
      this.#counts.records += ask.records.length;
      if (held) held.version = outcome.version;
      for (const append of appends) append.resolve();
    } else {
      if (outcome?.isInDoubt) this.#holds.set(sessionId, { epoch, version: undefined, isInDoubt: true });
      for (const append of appends) append.reject(outcome?.error);
    }
    this.#done(sessionId, appends);
  }

  #done(sessionId: string, operations: readonly Operation[]): void {
    this.#busy.delete(sessionId);
    const queue = this.#sessions.get(sessionId);
    queue?.splice(0, operations.length);
    for (const operation of operations)
      if (operation.type === 'single' || !operation.refusal) this.#bytes -= operation.bytes;
    if (queue?.length === 0) this.#sessions.delete(sessionId);
    if (this.#sessions.size > 0) this.#schedule();
    else for (const resolve of this.#onEmpty.splice(0)) resolve();
  }
}

/** A record costs something even when it is empty. */
function weigh(records: readonly LogRecord[]): number {
  return records.reduce((sum, record) => sum + record.json.length + 64, 64);
}
