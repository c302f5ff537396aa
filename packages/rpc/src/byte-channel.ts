import type { Readable, Writable } from 'node:stream';
import { Backlog } from './backlog.js';
import type { Channel } from './channel.js';
import { FramingError } from './errors.js';
import {
  defaultBodyBytes,
  type FrameLimits,
  FrameReader,
  frame,
  frameHead,
  type LargeFrames,
} from './framing.js';
import { bodyBytes, type Encoded, type Message, toEncoded } from './message.js';
import { Outgoing } from './outgoing.js';
import { refusedMessage } from './oversized.js';
import { parseLargeMessage } from './parse.js';
import type { SlowOptions } from './parse-slowly.js';
import { AsyncQueue } from './queue.js';

/** The two directions of one peer; a socket is both. */
export interface ByteStreams {
  readonly input: Readable;
  readonly output: Writable;
}

/** How far a channel goes along with a peer that sends too much, reads too slowly or does not hang up. */
export interface ByteChannelOptions extends FrameLimits {
  /** Queued bytes over which `send` asks to hold back; 1 MiB by default. */
  readonly highWaterMark?: number;
  /** A longer body ends the stream until the peer is trusted; as for all others by default. */
  readonly maxUntrustedBytes?: number;
  /** Objects, lists and plain values that a message over 1 MiB may have; any number by default. */
  readonly maxValues?: number;
  /** How long `close` waits for the peer to read what was queued and to hang up; 2 s by default. */
  readonly lingerMs?: number;
}

/** A Channel over any pair of byte streams; it owns them from now on, and their errors become its end. */
export function byteChannel(streams: ByteStreams, options: ByteChannelOptions = {}): Channel {
  return new ByteChannel(streams, options);
}

class ByteChannel implements Channel, LargeFrames {
  private readonly input: Readable;
  private readonly output: Writable;
  private readonly outgoing: Outgoing;
  private readonly slowOptions: SlowOptions;
  private readonly maxKeptBytes: number;
  private readonly reader: FrameReader;
  private readonly incoming = new AsyncQueue<Message>(() => this.readOn());
  private readonly maxBodyBytes: number;
  /** What has come while a large message is read; the messages go on in the order they came in. */
  private behind: (() => Promise<Message>)[] | undefined;
  private readonly backlog: Backlog;
  private readonly lingerMs: number;
  private batch = '';
  private batchBytes = 0;
  private isGathering = false;
  private hasEnded = false;
  private inputEnded = false;
  private outputEnded = false;
  private ended = false;
  private lingering: NodeJS.Timeout | undefined;
  private closing: Promise<void> | undefined;
  private onEnd: () => void = () => undefined;

  constructor({ input, output }: ByteStreams, options: ByteChannelOptions) {
    this.input = input;
    this.output = output;
    this.outgoing = new Outgoing(output);
    this.slowOptions = options.maxValues === undefined ? {} : { mostValues: options.maxValues };
    this.maxBodyBytes = options.maxBodyBytes ?? defaultBodyBytes;
    this.maxKeptBytes = options.maxKeptBytes ?? this.maxBodyBytes;
    this.reader = new FrameReader(
      { ...options, ...(options.maxUntrustedBytes && { maxBodyBytes: options.maxUntrustedBytes }) },
      this,
    );
    this.backlog = new Backlog(options.highWaterMark);
    this.lingerMs = options.lingerMs ?? 2000;
    input
      .on('data', this.read)
      .on('end', this.endInput)
      .on('close', this.endInput)
      .on('error', this.endInput);
    output.on('close', this.endOutput).on('error', this.endOutput);
    if (input.destroyed) this.endInput();
    if (output.destroyed) this.endOutput();
  }

  get messages(): AsyncIterable<Message> {
    return this.incoming;
  }

  get queuedBytes(): number {
    return this.backlog.bytes;
  }

  /**
   * The first message in a turn of the event loop is written at once, with all that follows directly. The rest is written
   * together at the end of the turn: with many streams, a write for each message would be most of the work.
   */
  send(message: Message | Encoded): boolean {
    if (this.outputEnded || this.closing !== undefined) return false;
    const encoded = toEncoded(message);
    if (encoded.byteLength > largeBytes) return this.sendLarge(encoded);
    const text = frame(encoded);
    const bytes = text.length - encoded.json.length + encoded.byteLength;
    if (this.batchBytes === 0 && !this.isGathering) queueMicrotask(this.flushSoon);
    this.batch += text;
    this.batchBytes += bytes;
    const hasRoom = this.backlog.add(bytes);
    if (this.batchBytes >= maxBatchBytes) this.flush();
    return hasRoom;
  }

  private sendLarge(encoded: Encoded): boolean {
    this.flush();
    const head = frameHead(encoded);
    const bytes = head.length + encoded.byteLength;
    const written = () => this.backlog.remove(bytes);
    this.outgoing.write(head, true, () => undefined);
    if (encoded.pieces) this.outgoing.writePieces(encoded.pieces, written);
    else this.outgoing.write(encoded.json, encoded.byteLength === encoded.json.length, written);
    return this.backlog.add(bytes);
  }

  drained(): Promise<void> {
    return this.backlog.drained();
  }

  close(): Promise<void> {
    this.closing ??= this.hangUp();
    return this.closing;
  }

  private readonly flushSoon = (): void => process.nextTick(this.flush);

  private readonly flush = (): void => {
    const bytes = this.batchBytes;
    if (bytes === 0 || this.outputEnded) return;
    const { batch } = this;
    this.batch = '';
    this.batchBytes = 0;
    this.outgoing.write(batch, bytes === batch.length, () => this.backlog.remove(bytes));
    if (this.isGathering) return;
    this.isGathering = true;
    setImmediate(this.gathered);
  };

  private readonly gathered = (): void => {
    this.isGathering = false;
    this.flush();
  };

  /** Reads no further chunk before the messages of this one are taken. */
  private readonly read = (chunk: Buffer): void => {
    try {
      this.reader.push(chunk, this.receive);
    } catch (error) {
      if (this.behind) this.behind.push(async () => Promise.reject(error));
      else this.fail(error);
      return;
    }
    if (this.incoming.size > 0 || this.behind) this.input.pause();
  };

  private readonly receive = (message: Message): void => {
    if (this.behind) this.behind.push(async () => message);
    else this.incoming.push(message);
  };

  large(body: Buffer): void {
    const read = () => this.readLarge(body);
    if (this.behind) this.behind.push(read);
    else void this.readInOrder([read]);
  }

  private async readLarge(body: Buffer): Promise<Message> {
    return Object.assign(await parseLargeMessage(body, this.slowOptions), { [bodyBytes]: body.length });
  }

  passedOver(beginning: string, length: number): void {
    const text = `Message too large: it has ${length} bytes, at most ${this.maxKeptBytes} are accepted`;
    this.receive(refusedMessage(beginning, new FramingError('too_large', text)));
  }

  trust(): void {
    this.reader.maxBodyBytes = this.maxBodyBytes;
  }

  private async readInOrder(waiting: (() => Promise<Message>)[]): Promise<void> {
    this.behind = waiting;
    this.input.pause();
    try {
      for (let read = waiting.shift(); read !== undefined; read = waiting.shift())
        this.incoming.push(await read());
    } catch (error) {
      this.fail(error);
      return;
    } finally {
      this.behind = undefined;
    }
    if (this.hasEnded) this.endInput();
    else if (this.incoming.size === 0) this.input.resume();
  }

  private fail(error: unknown): void {
    this.incoming.fail(error);
    this.ignoreInput();
  }

  private readOn(): void {
    if (!this.behind) this.input.resume();
  }

  private readonly endInput = (): void => {
    this.hasEnded = true;
    if (this.behind) return;
    try {
      this.reader.end();
      this.incoming.end();
    } catch (error) {
      this.incoming.fail(error);
    }
    this.inputEnded = true;
    if (this.outputEnded) this.end();
  };

  /** A peer that takes nothing more may have said something before: a child that exits, say. It is still read. */
  private readonly endOutput = (): void => {
    this.outputEnded = true;
    this.backlog.end();
    if (this.inputEnded) this.end();
    else this.linger();
  };

  /** A socket closed with bytes unread is reset, and the peer may lose what we said last: so they are read. */
  private ignoreInput(): void {
    this.input.off('data', this.read);
    this.input.resume();
  }

  private linger(): void {
    this.lingering ??= setTimeout(this.end, this.lingerMs);
  }

  private async hangUp(): Promise<void> {
    this.incoming.discard();
    if (this.ended) return;
    this.flush();
    this.ignoreInput();
    this.linger();
    await new Promise<void>((resolve) => {
      this.onEnd = resolve;
      if (!this.isSocket()) this.output.once('finish', this.end);
      this.outgoing.whenEmpty(() => this.output.end());
    });
  }

  /** A socket ends when both sides have hung up; of two pipes, the peer may keep the other one open for long. */
  private isSocket(): boolean {
    return Object.is(this.input, this.output);
  }

  private readonly end = (): void => {
    if (this.ended) return;
    this.ended = true;
    clearTimeout(this.lingering);
    this.input.destroy();
    if (!this.output.writableFinished) this.output.destroy();
    this.backlog.end();
    this.onEnd();
  };
}

/** What is longer is written in pieces, and read so too. */
const largeBytes = 1024 * 1024;

/** More gains nothing per byte, and less memory is held twice. */
const maxBatchBytes = 64 * 1024;
