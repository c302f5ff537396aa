import { Backlog } from './backlog.js';
import type { Channel } from './channel.js';
import { FramingError } from './errors.js';
import { bodyBytes, type Encoded, type Message, toEncoded } from './message.js';
import { parseLargeMessage, parseMessage } from './parse.js';
import { AsyncQueue } from './queue.js';

/** A socket that carries whole texts: that of a browser, or of a server. */
export interface TextSocket {
  /** Calls `left` once the text has left this side, or never will. */
  send(text: string, left: () => void): void;
  /** One text that is in pieces of bytes, where a socket can. */
  sendPieces?(pieces: readonly Buffer[], left: () => void): void;
  /** Stops what comes in, where a socket can. */
  pause?(): void;
  resume?(): void;
  /** Ends it when what was sent has left. */
  close(): void;
  /** Ends it at once. */
  terminate(): void;
  /** Called once, before anything comes in. */
  listen(listener: TextListener): void;
}

/** The events of a socket that its channel handles. */
export interface TextListener {
  /** One whole message: text, or its bytes. */
  receive(data: string | Buffer): void;
  /** What came is no text. */
  refuse(): void;
  /** Nothing comes or goes any more. */
  end(): void;
}

/** How far a channel goes along with its peer. */
export interface TextChannelOptions {
  /** Queued bytes over which `send` asks to hold back; 1 MiB by default. */
  readonly highWaterMark?: number;
  /** A longer message ends the channel until the peer is trusted; any length by default. */
  readonly maxUntrustedBytes?: number;
  /** Objects, lists and plain values that a message over 1 MiB may have; any number by default. */
  readonly maxValues?: number;
  /** How long `close` waits for the peer; 2 s by default. */
  readonly lingerMs?: number;
}

/** A Channel over a socket whose frames are whole messages. */
export function textChannel(socket: TextSocket, options: TextChannelOptions = {}): Channel {
  return new TextChannel(socket, options);
}

class TextChannel implements Channel {
  private readonly incoming = new AsyncQueue<Message>(() => this.readOn());
  private readonly backlog: Backlog;
  /** What has come while a large message is read. */
  private behind: (string | Buffer)[] | undefined;
  private isTrusted = false;
  private hasFailed = false;
  private hasEnded = false;
  private closing: Promise<void> | undefined;
  private onEnd: () => void = () => undefined;

  constructor(
    private readonly socket: TextSocket,
    private readonly options: TextChannelOptions,
  ) {
    this.backlog = new Backlog(options.highWaterMark);
    socket.listen({
      receive: (data) => this.receive(data),
      refuse: () => this.fail(new FramingError('message', 'Invalid message: expected text, got bytes')),
      end: () => this.end(),
    });
  }

  get messages(): AsyncIterable<Message> {
    return this.incoming;
  }

  get queuedBytes(): number {
    return this.backlog.bytes;
  }

  send(message: Message | Encoded): boolean {
    if (this.hasEnded || this.closing !== undefined) return false;
    const encoded = toEncoded(message);
    const { byteLength, pieces } = encoded;
    const hasRoom = this.backlog.add(byteLength);
    const left = () => this.backlog.remove(byteLength);
    if (pieces && this.socket.sendPieces) this.socket.sendPieces(pieces, left);
    else this.socket.send(encoded.json, left);
    return hasRoom;
  }

  drained(): Promise<void> {
    return this.backlog.drained();
  }

  trust(): void {
    this.isTrusted = true;
  }

  close(): Promise<void> {
    this.closing ??= this.hangUp();
    return this.closing;
  }

  private receive(data: string | Buffer): void {
    if (this.hasFailed || this.closing !== undefined) return;
    const { maxUntrustedBytes: most = Number.POSITIVE_INFINITY } = this.options;
    if (!this.isTrusted && data.length > most) {
      this.fail(new FramingError('too_large', `Message too large: at most ${most} bytes before the token`));
      return;
    }
    if (this.behind) this.behind.push(data);
    else if (isLarge(data)) void this.readInOrder([data]);
    else this.take(data);
    if (this.incoming.size > 0 || this.behind) this.socket.pause?.();
  }

  private take(data: string | Buffer): void {
    try {
      this.incoming.push(parseMessage(data.toString()));
    } catch (error) {
      this.fail(error);
    }
  }

  /** In small steps between which others have their turn; the messages go on in the order they came in. */
  private async readInOrder(waiting: (string | Buffer)[]): Promise<void> {
    this.behind = waiting;
    for (let data = waiting.shift(); data !== undefined && !this.hasFailed; data = waiting.shift())
      if (isLarge(data)) await this.takeLarge(data);
      else this.take(data);
    this.behind = undefined;
    if (this.hasEnded) this.incoming.end();
    else if (this.incoming.size === 0) this.readOn();
  }

  private async takeLarge(data: Buffer): Promise<void> {
    const { maxValues } = this.options;
    try {
      const message = await parseLargeMessage(data, maxValues === undefined ? {} : { mostValues: maxValues });
      this.incoming.push(Object.assign(message, { [bodyBytes]: data.length }));
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.hasFailed = true;
    this.incoming.fail(error);
    this.socket.resume?.();
  }

  private readOn(): void {
    if (!this.behind) this.socket.resume?.();
  }

  private end(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.backlog.end();
    if (!this.behind) this.incoming.end();
    this.onEnd();
  }

  /** What still comes in is read and dropped: the peer's own end comes behind it. */
  private async hangUp(): Promise<void> {
    this.incoming.discard();
    if (this.hasEnded) return;
    await new Promise<void>((resolve) => {
      const giveUp = setTimeout(() => {
        this.socket.terminate();
        this.end();
      }, this.options.lingerMs ?? 2000);
      this.onEnd = () => {
        clearTimeout(giveUp);
        resolve();
      };
      this.socket.resume?.();
      this.socket.close();
    });
  }
}

/** Longer bytes are parsed in small steps. A text was already read whole by the caller. */
const largeBytes = 1024 * 1024;

function isLarge(data: string | Buffer): data is Buffer {
  return typeof data !== 'string' && data.length > largeBytes;
}
