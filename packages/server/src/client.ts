import type { Connection, Encoded } from '@groundcrew/rpc';
import type { Attachment, Runtime, Session } from '@groundcrew/runtime';
import { Feed } from './feed.js';

/** What a client says of itself when it opens a session. */
export type Share = Omit<Attachment, 'clientId' | 'hear'>;

/** One connected client and the sessions it is attached to. */
export class Client {
  /** It has said `connect`; clients of old only ping. */
  hasConnected = false;
  private readonly feeds = new Map<string, Feed>();

  constructor(
    readonly id: string,
    private readonly connection: Connection,
    private readonly runtime: Runtime,
  ) {}

  /** What the session needs in order to have this client attached. */
  attachment(sessionId: string, share: Share): Attachment {
    const feed = new Feed({
      sessionId,
      isOld: share.isOld,
      connection: this.connection,
      read: (after) => this.runtime.find(sessionId)?.read(after) ?? nothing(),
    });
    this.feeds.set(sessionId, feed);
    return { clientId: this.id, ...share, hear: (told) => feed.hear(told) };
  }

  detached(sessionId: string): void {
    this.feeds.delete(sessionId);
  }

  isAttachedTo(session: Session): boolean {
    return session.audience.has(this.id);
  }

  /** Whether the client speaks, in this session, as releases before `toolFilterPrecedence` did. */
  isOldIn(sessionId: string): boolean {
    return this.feeds.get(sessionId)?.isOld ?? false;
  }

  tell(frame: Encoded): void {
    this.connection.send(frame);
  }

  /** The connection is gone: its sessions go on without it. */
  leave(): void {
    for (const sessionId of this.feeds.keys()) this.runtime.drop(sessionId, this.id);
    this.feeds.clear();
  }
}

async function* nothing(): AsyncGenerator<never> {
  yield* [];
}
