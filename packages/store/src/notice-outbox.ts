/** What is to be delivered to one address. */
export interface OutboxMessage {
  /** The same for every attempt. */
  readonly id: string;
  readonly endpoint: string;
  readonly body: string;
}

/** A message whose time has come, and how often it was tried. */
export interface DueMessage extends OutboxMessage {
  readonly tries: number;
}

/** A session whose log is followed, and up to where. */
export interface FollowedSession {
  /** The home that it is in. */
  readonly home: string;
  readonly sessionId: string;
  readonly seq: number;
}

/**
 * Webhooks that wait to be sent, and up to where each session's log was read for them. Every call that writes is durable
 * when it resolves. Several processes may use one outbox at once.
 */
export interface NoticeOutbox {
  /** A session is open from now on; resolves with the place up to which its log was read, `seq` for a new one. */
  follow(session: FollowedSession, about: { readonly isNew: boolean }): Promise<number>;
  /**
   * Stores messages, and the place up to which the log was read, in one commit; a message that is there already stays
   * as it is. Resolves with how many of the oldest were deleted, because more than `most` wait for one address.
   */
  put(session: FollowedSession, messages: readonly OutboxMessage[], most: number): Promise<number>;
  /** The session is closed, and its log was read up to here. */
  unfollow(session: FollowedSession): Promise<void>;
  /** The session was deleted; its messages stay. */
  remove(session: Omit<FollowedSession, 'seq'>): Promise<void>;
  /** Sessions that were open when a process was killed, and those that are open now. */
  followed(): Promise<readonly FollowedSession[]>;
  /** Messages whose time has come, the oldest first; no other call finds them for so many milliseconds. */
  take(query: {
    readonly endpoint: string;
    readonly limit: number;
    readonly leaseMs: number;
  }): Promise<readonly DueMessage[]>;
  /** Milliseconds until the next message for this address is due; undefined when none waits. */
  dueIn(endpoint: string): Promise<number | undefined>;
  /** It was delivered, or is given up. */
  settle(message: OutboxMessage): Promise<void>;
  /** It is due again after so many milliseconds, having been tried so often. */
  postpone(message: DueMessage, delayMs: number): Promise<void>;
  /** Deletes all messages for addresses other than these; resolves with their number. */
  keepOnly(endpoints: readonly string[]): Promise<number>;
  close(): Promise<void>;
}
