import type { EventType, SessionEvent } from '@groundcrew/protocol';

/** An event on its way to listeners: serialised once, for the store and for every client. */
export class PublishedEvent {
  /** The encoded frame: the first connection that sends it makes it, and all others reuse it. */
  frame: unknown;
  private opened: SessionEvent | undefined;

  constructor(
    readonly sessionId: string,
    readonly type: EventType,
    readonly json: string,
    /** Absent on ephemeral events. */
    readonly seq?: number,
    /** Of `json` in UTF-8, where the writer knows it: to count it, all its pieces must be joined. */
    readonly byteLength?: number,
  ) {}

  /** The event itself; most of those that stream by are never looked into. */
  get event(): SessionEvent {
    this.opened ??= JSON.parse(this.json) as SessionEvent;
    return this.opened;
  }
}
