import { setTimeout as pause } from 'node:timers/promises';
import { webhookEvents } from '@groundcrew/protocol';
import type {
  Claim,
  FollowedSession,
  LogRecord,
  NoticeOutbox,
  OutboxMessage,
  SessionHead,
  SessionStore,
} from '@groundcrew/store';
import { type EndpointOptions, wantsQuestion } from './endpoint.js';
import { hasTurnStart, idOf, type Notice, NoticeReader } from './notices.js';

/** The calls of an outbox that fill it; those that send are not among them. */
export type Following = Pick<NoticeOutbox, 'follow' | 'put' | 'unfollow' | 'remove' | 'followed'>;

/** What webhooks need. */
export interface WebhooksOptions {
  readonly endpoints: readonly EndpointOptions[];
  /** Whose sessions these are, where there are several tenants. */
  readonly tenant?: string;
  readonly outbox: Following;
  /** The store of a home. */
  storeOf(home: string): SessionStore;
  warn(message: string): void;
}

/** How many messages may wait for one address. */
const mostWaiting = 10_000;
const lookEveryMs = 30_000;
const writeAgainMs = 1_000;
const mostWrites = 30;

/** An open session as it is followed. */
interface Follower {
  readonly home: string;
  readonly sessionId: string;
  readonly createdAt: string;
  readonly reader: NoticeReader;
  /** Where its log ends, as far as this process has written it. */
  seq: number;
  /** Ends when the reads and writes of this session so far have ended. */
  line: Promise<void>;
}

/** The calls of a store that webhooks watch. */
export type WatchedCalls = Pick<SessionStore, 'claim' | 'append' | 'release' | 'remove'>;

/**
 * Puts messages about sessions into the outbox. They are made from the log after it was stored, so no crash makes them
 * untrue; after a crash the log is read on from the place that the outbox has, so none is lost.
 */
export class Webhooks {
  private readonly followers = new Map<string, Follower>();
  private readonly lines = new Set<Promise<void>>();
  private readonly closing = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private looking: Promise<void> = Promise.resolve();

  constructor(private readonly options: WebhooksOptions) {}

  /** Looks for records that an earlier process stored and did not put into the outbox. */
  start(): void {
    this.lookBack();
    this.timer = setInterval(() => this.lookBack(), lookEveryMs).unref();
  }

  /** The same calls of a store; what they store is followed. */
  watch(home: string, store: SessionStore): WatchedCalls {
    const keyOfSession = (sessionId: string) => `${home}\n${sessionId}`;
    return {
      claim: async (request) => {
        const claim = await store.claim(request);
        const { sessionId } = request;
        this.followers.set(keyOfSession(sessionId), await this.follow({ home, sessionId }, claim, store));
        return claim;
      },
      append: async (request) => {
        await store.append(request);
        const follower = this.followers.get(keyOfSession(request.sessionId));
        const { records, head } = request;
        if (follower) this.inLine(follower, () => this.enqueue(follower, records, head));
      },
      release: async (request) => {
        await store.release(request);
        const follower = this.followers.get(keyOfSession(request.sessionId));
        if (!follower) return;
        this.followers.delete(keyOfSession(request.sessionId));
        this.inLine(follower, () => this.retryWrite(() => this.options.outbox.unfollow(follower)));
      },
      remove: async (sessionId, by) => {
        const isRemoved = await store.remove(sessionId, by);
        if (!isRemoved) return false;
        this.followers.delete(keyOfSession(sessionId));
        await this.options.outbox.remove({ home, sessionId }).catch((error) => this.warnOfFailure(error));
        return true;
      },
    };
  }

  /** Resolves when all that was read is in the outbox, or could not be written. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    this.closing.abort();
    await Promise.all([this.looking, ...this.lines]);
  }

  private async follow(
    session: Pick<FollowedSession, 'home' | 'sessionId'>,
    { seq, head, isNew }: Claim,
    store: SessionStore,
  ): Promise<Follower> {
    const { createdAt } = head;
    const follower = { ...session, createdAt, seq, reader: new NoticeReader(), line: Promise.resolve() };
    try {
      const from = await this.options.outbox.follow({ ...session, seq }, { isNew });
      if (from < seq || head.hasWork)
        this.inLine(follower, () => this.readOn(follower, { store, from, head }));
    } catch (error) {
      this.warnOfFailure(error);
    }
    return follower;
  }

  /** Reads records that an earlier process stored and did not put into the outbox. */
  private async readOn(
    follower: Follower,
    {
      store,
      from,
      head,
    }: { readonly store: SessionStore; readonly from: number; readonly head: SessionHead },
  ): Promise<void> {
    const end = follower.seq;
    const { sessionId, reader } = follower;
    reader.recall(await recordsOfTurn(store, { sessionId, end: from }), {
      isOpen: from === end && head.hasWork,
    });
    if (from >= end) return;
    for await (const batch of store.read(sessionId, from)) {
      const records = batch.filter(({ seq }) => seq <= end);
      const last = records.at(-1)?.seq ?? end;
      await this.enqueue(follower, records, last < end ? { ...head, hasWork: true } : head);
      if (last >= end || this.closing.signal.aborted) return;
    }
  }

  private async enqueue(
    follower: Follower,
    records: readonly LogRecord[],
    { hasWork }: Pick<SessionHead, 'hasWork'>,
  ): Promise<void> {
    const seq = records.at(-1)?.seq ?? follower.seq;
    follower.seq = Math.max(follower.seq, seq);
    const notices = follower.reader.read(records, hasWork);
    const messages = notices.flatMap((notice) => this.messagesOf(notice, follower));
    if (messages.length === 0) return;
    const { home, sessionId } = follower;
    await this.retryWrite(async () => {
      const gone = await this.options.outbox.put({ home, sessionId, seq }, messages, mostWaiting);
      if (gone > 0)
        this.options.warn(`More than ${mostWaiting} webhooks wait: the ${gone} oldest are not sent`);
    });
  }

  private messagesOf(notice: Notice, { sessionId, createdAt }: Follower): readonly OutboxMessage[] {
    const { type, timestamp, seq, reason } = notice;
    const { tenant, endpoints } = this.options;
    const data = { sessionId, ...(tenant !== undefined && { tenant }), seq, reason };
    const body = JSON.stringify({ type, timestamp, data });
    const id = idOf(notice, { sessionId, createdAt });
    return endpoints
      .filter((each) => (each.events ?? webhookEvents).includes(type) && wants(each, notice))
      .map(({ url }) => ({ id, endpoint: new URL(url).href, body }));
  }

  /** The logs of sessions whose process was killed are read to their end. */
  private lookBack(): void {
    this.looking = this.looking.then(async () => {
      try {
        for (const session of await this.options.outbox.followed()) {
          if (this.closing.signal.aborted) return;
          if (!this.followers.has(`${session.home}\n${session.sessionId}`)) await this.finish(session);
        }
      } catch (error) {
        this.warnOfFailure(error);
      }
    });
  }

  private async finish(session: FollowedSession): Promise<void> {
    const { outbox, storeOf } = this.options;
    const { home, sessionId, seq: from } = session;
    const store = storeOf(home);
    const find = async () => (await store.list({ sessionId, includeEmpty: true, limit: 1 })).items[0];
    const found = await find();
    if (!found) return outbox.remove(session);
    if (found.owner) return undefined;
    const { seq, head } = found;
    const { createdAt } = head;
    const follower = { home, sessionId, createdAt, seq, reader: new NoticeReader(), line: this.looking };
    if (from < seq) await this.readOn(follower, { store, from, head });
    await outbox.unfollow({ home, sessionId, seq });
    // It may have been opened meanwhile.
    if ((await find())?.owner) await outbox.follow({ home, sessionId, seq }, { isNew: false });
    return undefined;
  }

  private inLine(follower: Follower, work: () => Promise<void>): void {
    const line = follower.line.then(work).catch((error) => this.warnOfFailure(error));
    follower.line = line;
    this.lines.add(line);
    void line.finally(() => this.lines.delete(line));
  }

  /** Tries a write for half a minute, because a full disk may pass; what was not written is found by the next process. */
  private async retryWrite(work: () => Promise<void>): Promise<void> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        if (tries === 1) this.warnOfFailure(error);
        if (tries === mostWrites || this.closing.signal.aborted) return;
      }
      await pause(writeAgainMs, undefined, { signal: this.closing.signal }).catch(() => undefined);
    }
  }

  private warnOfFailure(error: unknown): void {
    this.options.warn(`Webhooks cannot be stored now, and are tried again: ${(error as Error).message}`);
  }
}

/** How far back the beginning of a turn is looked for, in records. */
const farthestBack = 4_096;

/** The records up to a place, from the beginning of the turn they belong to. */
async function recordsOfTurn(
  store: SessionStore,
  { sessionId, end }: { readonly sessionId: string; readonly end: number },
): Promise<readonly LogRecord[]> {
  for (let reach = 64; ; reach *= 4) {
    const start = Math.max(0, end - reach);
    const records: LogRecord[] = [];
    for await (const batch of store.read(sessionId, start)) {
      records.push(...batch.filter(({ seq }) => seq <= end));
      if ((batch.at(-1)?.seq ?? end) >= end) break;
    }
    if (start === 0 || reach >= farthestBack || hasTurnStart(records)) return records;
  }
}

function wants(endpoint: EndpointOptions, { type, reason }: Notice): boolean {
  if (type !== 'session.waiting' || !('requestId' in reason)) return true;
  return wantsQuestion(endpoint, reason.kind);
}
