import { type Callbacks, callbacks, type Method, type Params, type Result, read } from '@groundcrew/protocol';
import { type Connection, type Encoded, RpcError } from '@groundcrew/rpc';
import { type Attachment, ClientGone, type Runtime, type Session } from '@groundcrew/runtime';
import type { Dialect } from './dialect.js';
import { Feed } from './feed.js';
import { LifecycleFeed, type Notice } from './lifecycle-feed.js';

/** What a client says of itself when it opens a session. */
export interface Share extends Omit<Attachment, 'clientId' | 'receive' | 'ask' | 'isOld'> {
  readonly dialect: Dialect;
}

/** One connected client and the sessions it is attached to. */
export class Client {
  /** It has said `connect`; clients of old only ping. */
  hasConnected = false;
  private hasLeft = false;
  private readonly feeds = new Map<string, Feed>();
  /** Of sessions that the client has left before it had heard everything. */
  private readonly late = new Map<string, Feed>();
  private readonly lifecycles: LifecycleFeed;

  constructor(
    readonly id: string,
    private readonly connection: Connection,
    private readonly runtime: Runtime,
  ) {
    this.lifecycles = new LifecycleFeed(connection);
  }

  /** Opens a session with this client attached; when that fails the client is attached as it was before. */
  async open(
    sessionId: string,
    share: Share,
    open: (attachment: Attachment) => Promise<Session>,
  ): Promise<Session> {
    const before = this.feeds.get(sessionId);
    const dialect = before?.dialect;
    try {
      return await open(this.attachment(sessionId, share));
    } catch (error) {
      if (before && dialect) {
        before.dialect = dialect;
        this.feeds.set(sessionId, before);
      } else this.part(sessionId);
      throw error;
    } finally {
      if (this.hasLeft) this.part(sessionId);
    }
  }

  /** What the session needs in order to have this client attached. */
  private attachment(sessionId: string, { dialect, ...share }: Share): Attachment {
    const feed = this.feedOf(sessionId, dialect);
    this.feeds.set(sessionId, feed);
    return {
      clientId: this.id,
      ...share,
      isOld: dialect !== 'new',
      receive: (published) => feed.receive(published),
      ask: (callback, params, signal) => this.ask(callback, params, signal),
    };
  }

  /** A client that is behind and comes again hears the rest first, so by the same feed. */
  private feedOf(sessionId: string, dialect: Dialect): Feed {
    const known = this.feeds.get(sessionId) ?? this.late.get(sessionId);
    this.late.delete(sessionId);
    if (known?.isBehind) {
      known.dialect = dialect;
      return known;
    }
    return new Feed({
      sessionId,
      dialect,
      connection: this.connection,
      read: (after) => this.runtime.find(sessionId)?.read(after) ?? nothing(),
    });
  }

  detached(sessionId: string): void {
    const feed = this.feeds.get(sessionId);
    this.feeds.delete(sessionId);
    for (const [id, { isBehind }] of this.late) if (!isBehind) this.late.delete(id);
    if (feed?.isBehind) this.late.set(sessionId, feed);
  }

  isAttachedTo(session: Session): boolean {
    return session.audience.has(this.id);
  }

  /** How the client reads what this session sends; undefined for a session that it has not opened. */
  dialectIn(sessionId: string): Dialect | undefined {
    return this.feeds.get(sessionId)?.dialect;
  }

  /** Puts a request of the table to the client and checks what it answers. */
  async ask<K extends keyof Callbacks>(
    callback: K,
    params: Params<Callbacks[K]>,
    signal: AbortSignal,
  ): Promise<Result<Callbacks[K]>> {
    const answer = await this.connection.request(callback, params, signal).catch((error: unknown) => {
      throw isConnectionClosed(error) ? new ClientGone('The client has left') : error;
    });
    const { result }: Method = callbacks[callback];
    const parsed = read(result, answer);
    if (!parsed.success) throw new Error(`${callback} was answered otherwise than the protocol says`);
    // The table pairs each name with its own result; which one this is, is known only now.
    return parsed.data as Result<Callbacks[K]>;
  }

  sendFrame(frame: Encoded): void {
    this.connection.send(frame);
  }

  /** News of a session, be the client attached to it or not. */
  sendLifecycle(notice: Notice): void {
    this.lifecycles.send(notice);
  }

  /** The connection is gone: its sessions go on without it. */
  disconnect(): void {
    this.hasLeft = true;
    for (const sessionId of this.feeds.keys()) this.part(sessionId);
  }

  private part(sessionId: string): void {
    this.feeds.delete(sessionId);
    this.runtime.detachLostClient(sessionId, this.id);
  }
}

function isConnectionClosed(error: unknown): boolean {
  if (!(error instanceof RpcError)) return false;
  const { code } = (error.data ?? {}) as { readonly code?: unknown };
  return code === 'connection_closed';
}

async function* nothing(): AsyncGenerator<never> {
  yield* [];
}
