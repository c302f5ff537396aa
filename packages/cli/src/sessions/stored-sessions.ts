import { existsSync } from 'node:fs';
import { type Environment, requestBody } from '@groundcrew/models';
import { NoSuchRequest, storedLog } from '@groundcrew/runtime';
import type { LogRecord, SessionStore, SessionSummary } from '@groundcrew/store';
import type { Config } from '../config/config.js';
import { chooseStore } from '../config/store-choice.js';
import { openStore, storeFile } from '../stores/home-store.js';
import { sharedStore } from '../stores/shared-store.js';
import type { TableSession } from './session-table.js';

/** A session as the store lists it. */
export interface StoredSession extends TableSession {
  readonly startTime: Date;
  readonly workingDirectory: string;
  readonly clientName?: string;
}

/** The sessions of a home, to look at: nothing is opened, taken over or changed. */
export class StoredSessions {
  private constructor(
    private readonly homeDirectory: string,
    private readonly store: (SessionStore & { close(): Promise<void> }) | undefined,
  ) {}

  /** Throws UsageError for a store that cannot be named so. */
  static async open(
    { homeDirectory, store: given }: Pick<Config, 'homeDirectory' | 'store'>,
    environment: Environment,
    onWarning: (message: string) => void,
  ): Promise<StoredSessions> {
    const url = await chooseStore({ given, environment, homeDirectory });
    if (url !== undefined) return new StoredSessions(homeDirectory, sharedStore({ url, onWarning }));
    // A home without sessions stays as it is.
    const isThere = existsSync(storeFile(homeDirectory));
    return new StoredSessions(homeDirectory, isThere ? openStore(homeDirectory, { onWarning }) : undefined);
  }

  /** The newest first. */
  async list(): Promise<readonly StoredSession[]> {
    const found: StoredSession[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.store?.list(cursor === undefined ? {} : { cursor });
      found.push(...(page?.items ?? []).map(described));
      cursor = page?.cursor;
    } while (cursor !== undefined);
    return found;
  }

  /** Its events as lines of JSON, in order, less those that were cut off. */
  async *events(sessionId: string): AsyncGenerator<string> {
    if (!this.store) return;
    const { items } = await this.store.list({ sessionId, includeEmpty: true });
    const removed = items[0]?.head.removed ?? [];
    const isSeen = ({ seq, isPublic }: LogRecord) =>
      isPublic && !removed.some(([first, last]) => seq >= first && seq <= last);
    for await (const records of this.store.read(sessionId))
      for (const record of records) if (isSeen(record)) yield record.json;
  }

  /** The body of the request of a turn, byte by byte as it was sent. */
  async requestBody(sessionId: string, turn: number | string): Promise<Uint8Array> {
    const store = this.store;
    if (!store) throw new NoSuchRequest('There are no sessions');
    const { wire, request } = await storedLog.request(store, sessionId, turn);
    return requestBody(wire, request);
  }

  /** The prompts to which a session can be taken back. */
  async rewindPoints(sessionId: string): ReturnType<typeof storedLog.rewindPoints> {
    return this.store ? storedLog.rewindPoints(this.store, sessionId) : [];
  }

  /** The files that a rewind would put back; undefined where they are not tracked. Throws for an event that is no prompt. */
  async rewindPreview(sessionId: string, eventId: string): ReturnType<typeof storedLog.rewindPreview> {
    const { homeDirectory: home } = this;
    return this.store && storedLog.rewindPreview(this.store, { sessionId, eventId, home });
  }

  async close(): Promise<void> {
    await this.store?.close();
  }
}

function described({ sessionId, head, owner }: SessionSummary): StoredSession {
  const summary = head.name ?? head.summary;
  return {
    sessionId,
    startTime: new Date(head.createdAt),
    modifiedTime: new Date(head.modifiedAt),
    workingDirectory: head.context.cwd,
    ...(summary !== undefined && { summary }),
    ...(head.clientName !== undefined && { clientName: head.clientName }),
    ...(owner && { openIn: owner.pid }),
    turns: head.userTurns,
    ...(head.model !== undefined && { model: head.model }),
    ...(head.tokens !== undefined && { tokens: head.tokens }),
    ...(head.cost !== undefined && { cost: head.cost }),
    ...(head.hasWork && { isWorking: true }),
  };
}
