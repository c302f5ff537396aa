import { setTimeout as pause } from 'node:timers/promises';
import {
  type RunSearchStep,
  type SearchHit,
  type SearchRequest,
  type SearchStep,
  type SearchStepRequest,
  StoreError,
} from '@groundcrew/store';
import type { Connection } from './connection.js';
import { loadDriver } from './driver.js';
import { storeFault } from './faults.js';
import { monotonic } from './monotonic.js';
import { whileBusy } from './retry.js';
import { indexSome, makeIndex, searchIndex, unreadSessions } from './search-index.js';
import { StoreFile } from './store-file.js';

/** Does a step of a search in another process. */
export type SearchElsewhere = (step: SearchStepRequest) => Promise<SearchStep>;

/** Milliseconds for which sessions are read between two reports of progress. */
const stepLength = 500;

/** Searches by steps in another process. What each has read stays read, whatever ends the search. */
export async function searchElsewhere({
  file,
  words,
  limit,
  onProgress,
  step,
}: Omit<SearchRequest, 'textOf'> & {
  readonly file: string;
  readonly step: SearchElsewhere;
}): Promise<readonly SearchHit[]> {
  for (let all = 0; ; ) {
    const { unread, hits } = await step({ file, words, limit, milliseconds: stepLength }).catch(
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new StoreError('io', `The sessions in ${file} could not be searched: ${reason}`);
      },
    );
    all = Math.max(all, unread);
    if (all > 0) onProgress?.({ done: all - unread, of: all });
    if (unread === 0) return hits;
  }
}

const busyLimit = 10_000;
/** What is written to the log before it is folded in, in commits of the index. */
const commitsPerCheckpoint = 4;

/** The other end: steps of searches in the stores of this machine, each of which it keeps open. */
export class StoreSearcher {
  readonly #files = new Map<string, StoreFile>();

  /** Reads for a while what no search has read; searches when nothing is left to read. */
  readonly step: RunSearchStep = async ({ file: path, words, limit, milliseconds }, textOf) => {
    const file = this.#file(path);
    try {
      const unread = await readSome(file, { milliseconds, textOf });
      if (unread > 0) return { unread, hits: [] };
      const hits = await look(file, (connection) => searchIndex(connection, { words, limit }));
      return { unread, hits: hits ?? [] };
    } catch (error) {
      file.drop();
      throw storeFault(error, path);
    }
  };

  #file(path: string): StoreFile {
    const known = this.#files.get(path);
    if (known) return known;
    const file = new StoreFile({ file: path, mode: 'group', driver: loadDriver, onWarning: () => undefined });
    this.#files.set(path, file);
    return file;
  }
}

/** How many sessions are left to read. Between two commits the lock is free for as long as it was taken. */
async function readSome(
  file: StoreFile,
  { milliseconds, textOf }: Pick<SearchStepRequest, 'milliseconds'> & Pick<SearchRequest, 'textOf'>,
): Promise<number> {
  const unread = (await look(file, unreadSessions)) ?? [];
  const end = monotonic() + milliseconds;
  let done = 0;
  for (let commits = 1; done < unread.length && monotonic() < end; commits += 1) {
    const began = monotonic();
    const read = await whileBusy(() => {
      const connection = file.forReading();
      connection?.begin();
      return (
        connection &&
        committed(connection, () => {
          makeIndex(connection);
          return indexSome(connection, { unread: unread.slice(done), textOf });
        })
      );
    }, busyLimit);
    // Someone has taken the whole store away.
    if (read === undefined) return 0;
    done += read;
    if (commits % commitsPerCheckpoint === 0 || done === unread.length)
      await whileBusy(() => file.forReading()?.checkpoint('PASSIVE'), busyLimit);
    await pause(monotonic() - began);
  }
  return unread.length - done;
}

function look<T>(file: StoreFile, body: (connection: Connection) => T): Promise<T | undefined> {
  return whileBusy(() => {
    const connection = file.forReading();
    return connection?.view(() => body(connection));
  }, busyLimit);
}

function committed<T>(connection: Connection, work: () => T): T {
  try {
    const value = work();
    connection.commit();
    return value;
  } catch (error) {
    connection.rollback();
    throw error;
  }
}
