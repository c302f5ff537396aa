import type { NewRecord, Owner, SessionHead, SessionStore } from '@groundcrew/store';
import { entryOf, noteJson } from '../log/entry.js';
import { reduce } from '../log/fold.js';
import { headOf } from '../log/head.js';
import { initialState, type SessionState } from '../log/state.js';

/** A log that is written as a whole: of a fork or an import. */
export interface NewLog {
  readonly sessionId: string;
  readonly owner: Owner;
  /** Its records without their `seq`; `state` gives what those that were yielded so far add up to. */
  records(state: () => SessionState): AsyncIterable<readonly Omit<NewRecord, 'seq'>[]>;
  /** Makes the state that the session starts from, out of what its records add up to. */
  finish(state: SessionState): SessionState;
}

/** What one commit may hold. */
const charactersPerCommit = 1024 * 1024;

/**
 * Writes a session whose past is known, and closes it: it ends with a snapshot, so that it opens as others do. It is
 * listed once all of it is there.
 */
export async function writeLog(store: SessionStore, log: NewLog): Promise<SessionState> {
  try {
    return await writeAll(store, log);
  } catch (error) {
    await removeIfUnfinished(store, log);
    throw error;
  }
}

async function removeIfUnfinished(
  store: SessionStore,
  { sessionId, owner }: Pick<NewLog, 'sessionId' | 'owner'>,
): Promise<void> {
  const { items } = await store.list({ sessionId, includeEmpty: true });
  if (items[0]?.head.isUnfinished) await store.remove(sessionId, owner);
}

async function writeAll(store: SessionStore, log: NewLog): Promise<SessionState> {
  const writer = new LogWriter(store, log);
  let state = initialState;
  const add = async (record: Omit<NewRecord, 'seq'>) => {
    const numbered = { ...record, seq: state.seq + 1 };
    state = reduce(state, entryOf(numbered));
    await writer.add(numbered, headOf(state));
  };
  for await (const batch of log.records(() => state)) for (const record of batch) await add(record);
  const finished = log.finish(state);
  const snapshot = { note: 'snapshot', data: { state: finished } } as const;
  await add({ isPublic: false, type: 'snapshot', json: noteJson(snapshot) });
  await writer.end(headOf(state));
  return state;
}

/** Collects records into commits. */
class LogWriter {
  private epoch: number | undefined;
  private written = 0;
  private waiting: NewRecord[] = [];
  private characters = 0;

  constructor(
    private readonly store: SessionStore,
    private readonly log: Pick<NewLog, 'sessionId' | 'owner'>,
  ) {}

  async add(record: NewRecord, head: SessionHead): Promise<void> {
    this.waiting.push(record);
    this.characters += record.json.length;
    // Until all of it is there it counts as a session without a prompt, which no list shows.
    if (this.characters > charactersPerCommit)
      await this.commit({ ...head, userTurns: 0, isUnfinished: true });
  }

  async end(head: SessionHead): Promise<void> {
    await this.commit(head);
    const { sessionId } = this.log;
    if (this.epoch !== undefined) await this.store.release({ sessionId, epoch: this.epoch });
  }

  private async commit(head: SessionHead): Promise<void> {
    const { sessionId, owner } = this.log;
    const records = this.waiting;
    this.waiting = [];
    this.characters = 0;
    if (this.epoch === undefined) {
      const claim = await this.store.claim({ sessionId, owner, create: { records, head } });
      if (!claim.isNew) throw new Error(`There is a session ${sessionId} already`);
      this.epoch = claim.epoch;
    } else {
      await this.store.append({ sessionId, epoch: this.epoch, expectedSeq: this.written, records, head });
    }
    this.written += records.length;
  }
}
