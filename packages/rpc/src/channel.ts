import type { Encoded, Message } from './message.js';

/** A two-way stream of whole JSON-RPC messages. Framing, sockets and processes live behind it. */
export interface Channel {
  /**
   * Queues a whole message; false means the peer is behind: hold back and await `drained()`.
   * After the end of the channel it does nothing and returns false; it throws only what JSON cannot hold.
   */
  send(message: Message | Encoded): boolean;
  /** Resolves when the peer has caught up, at once when it has, and also when the channel ends. */
  drained(): Promise<void>;
  /** Bytes that were sent and that the peer's side has not taken yet. */
  readonly queuedBytes: number;
  /** Ends when the peer is gone; throws FramingError when it sent what is no message. May be iterated once. */
  readonly messages: AsyncIterable<Message>;
  /** The peer has shown who it is: from now on it may send messages of any size. */
  trust?(): void;
  /** Hands over what was queued, receives nothing more, and never rejects. May be called again. */
  close(): Promise<void>;
}
