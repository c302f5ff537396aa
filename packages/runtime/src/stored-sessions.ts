import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  isInUse,
  type LogRecord,
  type Owner,
  type SessionContext,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
} from '@groundcrew/store';
import type { Clock } from './clock.js';
import type { ExportedSession, ExportRequest } from './history/export-session.js';
import { type ForkRequest, forkLog } from './history/fork.js';
import type { ImportedSession, ImportRequest } from './history/import-session.js';
import { replay } from './log/replay.js';
import { passageWith, searchText } from './log/search-text.js';
import type { SessionState } from './log/state.js';
import { readStored } from './log/stored-records.js';
import type { Session } from './session/session.js';
import { Checkpoints } from './workspace/checkpoints.js';
import { copyDirectory, sizeOfDirectory } from './workspace/copied-directory.js';
import { eventLines } from './workspace/event-file.js';
import { replaceFile } from './workspace/replace-file.js';
import { sessionDirectoryIn } from './workspace/session-directory.js';

/** What the sessions of a home are looked after with. */
interface StoredSessionsParts {
  readonly store: SessionStore;
  readonly directory: string;
  readonly owner: Owner;
  readonly clock: Clock;
  /** The session, if it is open in this process. */
  find(sessionId: string): Session | undefined;
  remove(sessionId: string): Promise<boolean>;
  onForked(summary: SessionSummary): void;
}

/** What is looked for in all sessions. */
export interface SessionSearch {
  readonly words: string;
  readonly limit?: number | undefined;
  onProgress?(progress: { readonly done: number; readonly of: number }): void;
}

/** A session that was found, and the passage by which it was. */
export interface FoundSession {
  readonly summary: SessionSummary;
  readonly passage: string;
}

/** Which sessions are to go: those that any of the three says. */
export interface PruneRequest {
  readonly olderThanDays?: number | undefined;
  /** All but so many of the newest. */
  readonly keepNewest?: number | undefined;
  /** The oldest, until all together take no more bytes. */
  readonly mostBytes?: number | undefined;
  readonly dryRun?: boolean;
  /** Also those that a user has named. */
  readonly includeNamed?: boolean;
  readonly excludeSessionIds?: readonly string[];
}

/** What a prune did, or would do. */
export interface PruneResult {
  readonly deleted: readonly string[];
  readonly candidates: readonly string[];
  /** Old enough, but named or in use. */
  readonly skipped: readonly string[];
  readonly freedBytes: number;
  readonly dryRun: boolean;
}

const mostFound = 20;
/** Shorter beginnings of an id are too likely to mean another session. */
const shortestPrefix = 7;
const dayMs = 24 * 60 * 60 * 1000;

/** The sessions of a home as they are stored, open or not. */
export class StoredSessions {
  constructor(private readonly parts: () => StoredSessionsParts) {}

  /** Stored records after a seq, of a session that need not be open; throws StoreError. */
  read(sessionId: string, after = 0): AsyncIterable<readonly LogRecord[]> {
    const { find, store } = this.parts();
    const live = find(sessionId);
    const closed = {
      sessionId,
      loadedState: undefined,
      readers: { missing: new Set<number>() },
      emit: async () => undefined,
    };
    return live ? live.read(after) : readStored(closed, { store, after });
  }

  /** Writes the events that are stored now to a file of the session's directory, and resolves with its path. */
  async writeEvents(sessionId: string): Promise<string> {
    const path = join(sessionDirectoryIn(this.parts().directory, sessionId), 'events.jsonl');
    await replaceFile(path, eventLines(this.read(sessionId)));
    return path;
  }

  /** What a session adds up to; undefined when there is none. Throws StoreError when it cannot be read. */
  async state(sessionId: string): Promise<SessionState | undefined> {
    const { find, store } = this.parts();
    const live = find(sessionId);
    if (live) return live.state();
    const { items } = await store.list({ sessionId, includeEmpty: true });
    if (!items[0]) return undefined;
    const { state, damage } = await replay({ store, sessionId, snapshotSeq: items[0].head.snapshotSeq });
    if (damage) throw damage;
    return state;
  }

  /** The newest first. */
  async list(query: SessionQuery = {}): Promise<readonly SessionSummary[]> {
    const items: SessionSummary[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.parts().store.list({ ...query, ...(cursor !== undefined && { cursor }) });
      items.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined && query.limit === undefined);
    return items;
  }

  /** Sessions in which words stand, the best first, each with the passage that says most of them. */
  async search({ words, limit = mostFound, onProgress }: SessionSearch): Promise<readonly FoundSession[]> {
    const { store } = this.parts();
    const hits = await store.search({ words, limit, textOf: searchText, ...(onProgress && { onProgress }) });
    const found = hits.map(async ({ sessionId, text }) => {
      const { items } = await store.list({ sessionId, includeEmpty: true });
      return items.map((summary) => ({ summary, passage: passageWith(text, words) }));
    });
    return (await Promise.all(found)).flat();
  }

  /** Undefined when there is none, or more than one. */
  async findByPrefix(prefix: string): Promise<string | undefined> {
    if (prefix.length < shortestPrefix) return undefined;
    const all = await this.list({ includeEmpty: true });
    const found = all.filter(({ sessionId }) => sessionId.startsWith(prefix));
    return found.length === 1 ? found[0]?.sessionId : undefined;
  }

  /** The newest of those that worked most nearly where a client works. */
  async lastFor(context: Partial<SessionContext> = {}): Promise<string | undefined> {
    const all = await this.list();
    const rank = ({ head }: SessionSummary) => nearness(head.context, context);
    return all.toSorted((one, other) => rank(other) - rank(one))[0]?.sessionId;
  }

  /** Those that another live process has open. */
  async inUse(sessionIds: readonly string[]): Promise<readonly string[]> {
    const { owner, store } = this.parts();
    const found: string[] = [];
    for (const sessionId of new Set(sessionIds)) {
      const { items } = await store.list({ sessionId, includeEmpty: true });
      const holder = items[0]?.owner;
      if (holder && holder.runtimeId !== owner.runtimeId) found.push(sessionId);
    }
    return found;
  }

  /** Bytes of all of them. */
  async sizes(): Promise<ReadonlyMap<string, number>> {
    const sizes = new Map<string, number>();
    for (const { sessionId } of await this.list({ includeEmpty: true }))
      sizes.set(sessionId, await this.sizeOf(sessionId));
    return sizes;
  }

  /** Bytes that a session takes: its records, and its own directory. */
  async sizeOf(sessionId: string): Promise<number> {
    const { store, directory } = this.parts();
    const [records, files] = await Promise.all([
      store.size(sessionId),
      sizeOfDirectory(sessionDirectoryIn(directory, sessionId)),
    ]);
    return records + files;
  }

  /** Deletes what is there of these; bytes that were freed, by id. One that is in use stays, and frees nothing. */
  async deleteAll(sessionIds: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const freed = new Map<string, number>();
    for (const sessionId of new Set(sessionIds)) {
      const bytes = await this.sizeOf(sessionId);
      const isGone = await this.removeUnused(sessionId);
      freed.set(sessionId, isGone ? bytes : 0);
    }
    return freed;
  }

  /** False when there is none, or another process has it. */
  private removeUnused(sessionId: string): Promise<boolean> {
    const ofOthers = (error: unknown): false => {
      if (isInUse(error)) return false;
      throw error;
    };
    return this.parts().remove(sessionId).catch(ofOthers);
  }

  /** Deletes old sessions; those that are open stay. */
  async prune(request: PruneRequest): Promise<PruneResult> {
    const { dryRun = false, includeNamed = false, excludeSessionIds = [] } = request;
    const excluded = new Set(excludeSessionIds);
    const old = (await this.tooMany(request)).filter(({ sessionId }) => !excluded.has(sessionId));
    const isKept = ({ sessionId, head, owner }: SessionSummary) =>
      (head.isNamed === true && !includeNamed) || owner !== undefined || this.parts().find(sessionId);
    const skipped = old.filter(isKept).map(({ sessionId }) => sessionId);
    const going = old.filter((each) => !isKept(each)).map(({ sessionId }) => sessionId);
    if (dryRun) {
      let freedBytes = 0;
      for (const sessionId of going) freedBytes += await this.sizeOf(sessionId);
      return { deleted: [], candidates: going, skipped, freedBytes, dryRun };
    }
    const deleted: string[] = [];
    let freedBytes = 0;
    for (const sessionId of going) {
      const bytes = await this.sizeOf(sessionId);
      // One that was taken up meanwhile stays.
      const isGone = await this.removeUnused(sessionId);
      if (isGone) deleted.push(sessionId);
      if (isGone) freedBytes += bytes;
    }
    const taken = going.filter((sessionId) => !deleted.includes(sessionId));
    return { deleted, candidates: [], skipped: [...skipped, ...taken], freedBytes, dryRun };
  }

  /** Those that are too old, or too many, or take too much together; the newest first. */
  private async tooMany(request: PruneRequest): Promise<readonly SessionSummary[]> {
    const { olderThanDays, keepNewest = Number.POSITIVE_INFINITY, mostBytes } = request;
    const all = await this.list({ includeEmpty: true });
    const now = this.parts().clock.now().getTime();
    const before = olderThanDays === undefined ? '' : timeBefore(now, olderThanDays);
    const found: SessionSummary[] = [];
    let bytes = 0;
    for (const [index, summary] of all.entries()) {
      if (mostBytes !== undefined) bytes += await this.sizeOf(summary.sessionId);
      const isTooLarge = mostBytes !== undefined && bytes > mostBytes;
      if (summary.head.modifiedAt <= before || index >= keepNewest || isTooLarge) found.push(summary);
    }
    return found;
  }

  /** A session that goes its own way from some point of another one. */
  async fork(
    request: Omit<ForkRequest, 'sessionId'>,
  ): Promise<{ readonly sessionId: string; readonly name: string }> {
    const { directory, find } = this.parts();
    await find(request.from)?.openLog?.stored();
    const sessionId = randomUUID();
    const { compactions, ...fork } = await forkLog(this.parts(), { ...request, sessionId });
    const own = sessionDirectoryIn(directory, sessionId);
    await this.finish(sessionId, async () => {
      await copyDirectory(sessionDirectoryIn(directory, request.from), own);
      // Summaries of what comes after the event are not a part of this past.
      await new Checkpoints(join(own, 'checkpoints')).dropAfter(compactions);
    });
    return fork;
  }

  /** Brings a session its files and announces it; without them there is none. */
  private async finish(sessionId: string, copyFiles: () => Promise<void>): Promise<void> {
    const { store, onForked, remove } = this.parts();
    try {
      await copyFiles();
    } catch (error) {
      await remove(sessionId);
      throw error;
    }
    const { items } = await store.list({ sessionId, includeEmpty: true });
    if (items[0]) onForked(items[0]);
  }

  /** Reads a session of a directory in the layout of other tools, or of a file of events; it can be resumed then. */
  async importFrom(request: ImportRequest): Promise<Omit<ImportedSession, 'directory'>> {
    const { directory, find } = this.parts();
    const [{ importLog }, { CannotImport }] = await Promise.all([
      import('./history/import-session.js'),
      import('./history/event-lines.js'),
    ]);
    if (request.sessionId !== undefined && find(request.sessionId))
      throw new CannotImport(`The session ${request.sessionId} is open`);
    const { directory: from, ...imported } = await importLog(this.parts(), request);
    const { sessionId } = imported;
    await this.finish(sessionId, async () => {
      if (from !== undefined) await copyDirectory(from, sessionDirectoryIn(directory, sessionId));
    });
    return imported;
  }

  /** Writes a session into a directory of its id, in the layout of other tools. */
  async exportTo(request: Omit<ExportRequest, 'copyFiles'>): Promise<ExportedSession> {
    const { store, directory, find } = this.parts();
    await find(request.sessionId)?.openLog?.stored();
    const { exportLog } = await import('./history/export-session.js');
    const from = sessionDirectoryIn(directory, request.sessionId);
    return exportLog(store, { ...request, copyFiles: (to) => copyDirectory(from, to) });
  }
}

/** Before the first year there are no sessions, and dates end some time before that. */
function timeBefore(now: number, days: number): string {
  const milliseconds = now - days * dayMs;
  return milliseconds < 0 ? '' : new Date(milliseconds).toISOString();
}

function nearness(context: SessionContext, wanted: Partial<SessionContext>): number {
  const isSame = (field: keyof SessionContext) =>
    wanted[field] !== undefined && context[field] === wanted[field];
  if (isSame('cwd')) return isSame('branch') ? 5 : 4;
  if (isSame('gitRoot')) return 3;
  if (isSame('repository')) return isSame('branch') ? 2 : 1;
  return 0;
}
