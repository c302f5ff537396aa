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
 * What is still to be told to others than clients, and up to where each session's log was looked through for it. Every call
 * that writes is durable when it resolves. Several processes may use one outbox at once.
 */
export interface NoticeOutbox {
  /** A session is open from now on; resolves with the place up to which its log was looked through, `seq` for a new one. */
  follow(session: FollowedSession, about: { readonly isNew: boolean }): Promise<number>;
  /**
   * Keeps messages, and the place up to which the log was looked through, in one commit; a message that is there already stays
   * as it is. Resolves with how many of the oldest had to go, because more than `most` wait for one address.
   */
  put(session: FollowedSession, messages: readonly OutboxMessage[], most: number): Promise<number>;
  /** The session is open no longer, and its log is looked through up to here. */
  rest(session: FollowedSession): Promise<void>;
  /** The session was deleted; what is to be told of it stays. */
  forget(session: Omit<FollowedSession, 'seq'>): Promise<void>;
  /** Sessions that were open when a process ended without a word, and those that are open now. */
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
  /** Takes back all that waits for addresses other than these; resolves with how many it was. */
  keepOnly(endpoints: readonly string[]): Promise<number>;
  close(): Promise<void>;
}
