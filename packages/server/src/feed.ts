import type { SessionEvent } from '@groundcrew/protocol';
import { type Connection, type Encoded, encodeRaw } from '@groundcrew/rpc';
import { PublishedEvent } from '@groundcrew/runtime';
import type { LogRecord } from '@groundcrew/store';
import type { ClientDialect } from './dialect/client-dialect.js';

export interface FeedOptions {
  readonly sessionId: string;
  readonly dialect: Pick<ClientDialect, 'event' | 'sent'>;
  readonly connection: Connection;
  /** Stored events are sent with their place in the log: another node hands them on. */
  readonly showsSeq?: boolean;
  read(after: number): AsyncIterable<readonly LogRecord[]>;
}

/** What a client that is behind has still to receive: stored events by their place, others themselves. */
type Owed = { readonly type: 'stored'; from: number; to: number } | OwedLive;

interface OwedLive {
  readonly type: 'live';
  readonly published: PublishedEvent;
  /** What it has become by deltas that joined it; written down only when it is sent. */
  merged?: SessionEvent;
  characters: number;
}

/** Characters of a delta that takes no more: clients want it soon. */
const largestMerged = 32 * 1024;

/** So much may wait for one client; one that is further behind is cut off and may read on from its cursor. */
const mostOwed = { events: 20_000, characters: 8 * 1024 * 1024 };

/** One session's events on their way to one client. A slow client costs others nothing and memory only so much. */
export class Feed {
  private owed: Owed[] = [];
  private owedCharacters = 0;
  private isLate = false;
  private readonly opening: string;

  constructor(private readonly options: FeedOptions) {
    const sessionId = JSON.stringify(options.sessionId);
    this.opening = `{"jsonrpc":"2.0","method":"session.event","params":{"sessionId":${sessionId},"event":`;
  }

  /** The client has still to receive something: until then, all that comes after must come by this feed, too. */
  get isBehind(): boolean {
    return this.isLate;
  }

  receive(published: PublishedEvent): void {
    if (this.isLate) {
      this.owe(published);
      return;
    }
    if (this.send(published)) return;
    this.isLate = true;
    // What cannot be read cannot be sent: the client may come back and read on from its cursor.
    this.catchUp().catch(() => this.options.connection.close());
  }

  private owe(published: PublishedEvent): void {
    const last = this.owed.at(-1);
    if (published.seq !== undefined) {
      if (last?.type === 'stored') last.to = published.seq;
      else this.owed.push({ type: 'stored', from: published.seq, to: published.seq });
      return;
    }
    if (!this.merge(published)) this.oweLive(published);
    const isTooMuch = this.owed.length > mostOwed.events || this.owedCharacters > mostOwed.characters;
    if (isTooMuch) void this.options.connection.close();
  }

  private oweLive(published: PublishedEvent): void {
    this.owed.push({ type: 'live', published, characters: published.json.length });
    this.owedCharacters += published.json.length;
  }

  /** Deltas of one message become one: nothing is lost from their sum, and each costs no more than the first. */
  private merge(published: PublishedEvent): boolean {
    for (const owed of this.owed.slice(-2)) {
      if (owed.type !== 'live' || owed.published.type !== published.type || isFull(owed)) continue;
      const merged = mergeEvents(owed.merged ?? owed.published.event, published.event);
      if (!merged) continue;
      const more = addedBy(published, owed.characters);
      owed.merged = merged;
      owed.characters += more;
      this.owedCharacters += more;
      return true;
    }
    return false;
  }

  private async catchUp(): Promise<void> {
    const { connection } = this.options;
    for (;;) {
      await connection.drained();
      const next = this.owed.shift();
      if (!next) break;
      if (next.type === 'live') {
        this.owedCharacters -= next.characters;
        this.send(writtenDown(next));
      } else await this.sendStored(next.from, next.to);
    }
    this.isLate = false;
  }

  private async sendStored(from: number, to: number): Promise<void> {
    const { connection, read } = this.options;
    for await (const batch of read(from - 1)) {
      for (const record of batch) {
        if (record.seq > to) return;
        if (record.isPublic && !this.sendRecord(record)) await connection.drained();
      }
    }
  }

  /** False when the client is behind; what it could not read is not sent. */
  private send(published: PublishedEvent): boolean {
    const { connection, dialect, sessionId } = this.options;
    dialect.sent(sessionId, published);
    const json = dialect.event(published);
    if (json === undefined) return true;
    if (this.options.showsSeq) return connection.send(this.frameOf(json, undefined, published.seq));
    if (json !== published.json) return connection.send(this.frameOf(json));
    published.frame ??= this.frameOf(published.json, published.byteLength);
    return connection.send(published.frame as Encoded);
  }

  private sendRecord(record: LogRecord): boolean {
    const { connection, dialect, sessionId } = this.options;
    dialect.sent(sessionId, record);
    const json = dialect.event(record);
    const seq = this.options.showsSeq ? record.seq : undefined;
    return json === undefined || connection.send(this.frameOf(json, undefined, seq));
  }

  private frameOf(json: string, byteLength?: number, seq?: number): Encoded {
    const text = `${this.opening}${json}${seq === undefined ? '' : `,"seq":${seq}`}}}`;
    return encodeRaw(text, byteLength === undefined ? undefined : text.length - json.length + byteLength);
  }
}

/** A sum that has grown large; what only takes another's place never does. */
function isFull({ published, characters }: OwedLive): boolean {
  return characters > largestMerged && published.type !== 'tool.execution_partial_result';
}

function writtenDown({ published, merged }: OwedLive): PublishedEvent {
  return merged ? new PublishedEvent(published.sessionId, published.type, JSON.stringify(merged)) : published;
}

/** Characters that an event adds to the one it joins, or to that whose place it takes; escapes of a delta are not counted. */
function addedBy({ event, json }: PublishedEvent, before: number): number {
  return 'deltaContent' in event.data ? event.data.deltaContent.length : json.length - before;
}

function mergeEvents(earlier: SessionEvent, later: SessionEvent): SessionEvent | undefined {
  if (earlier.type === 'assistant.message_delta' && later.type === earlier.type) {
    if (earlier.data.messageId !== later.data.messageId) return undefined;
    return {
      ...later,
      data: { ...later.data, deltaContent: earlier.data.deltaContent + later.data.deltaContent },
    };
  }
  if (earlier.type === 'assistant.reasoning_delta' && later.type === earlier.type) {
    if (earlier.data.reasoningId !== later.data.reasoningId) return undefined;
    return {
      ...later,
      data: { ...later.data, deltaContent: earlier.data.deltaContent + later.data.deltaContent },
    };
  }
  if (earlier.type === 'assistant.streaming_delta' && later.type === earlier.type) return later;
  if (earlier.type === 'tool.execution_partial_result' && later.type === earlier.type)
    return earlier.data.toolCallId === later.data.toolCallId ? later : undefined;
  return undefined;
}
