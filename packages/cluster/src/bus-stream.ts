import { Duplex } from 'node:stream';

/** How a stream sends its messages, and what is called when it is closed. */
export interface BusStreamOptions {
  send(message: Uint8Array): void;
  onClose(): void;
}

/** The kinds of messages, by their first byte. */
const kinds = { data: 0, credit: 1, end: 2, reset: 3 } as const;

/** Bytes that may be on their way; far below what makes NATS cut a slow reader off. */
const window = 256 * 1024;
/** NATS takes 1 MB at most. */
const largestPiece = 64 * 1024;
/** After so many bytes were read, the other side gets credit for as many more. */
const creditStep = 64 * 1024;

interface Waiting {
  readonly chunk: Uint8Array;
  at: number;
  done(error?: Error | null): void;
}

/**
 * Both directions of bytes between two nodes, over messages that keep their order and may be lost: a missing one breaks the
 * stream, and is never gone around. No more is sent than the reader on the other side has taken, but for a window.
 */
export class BusStream extends Duplex {
  readonly #options: BusStreamOptions;
  readonly #outgoing: Waiting[] = [];
  readonly #incoming: (Uint8Array | null)[] = [];
  #credit = window;
  #taken = 0;
  #sent = 0;
  #received = 0;
  #wantsMore = false;
  #hasReset = false;

  constructor(options: BusStreamOptions) {
    super({ allowHalfOpen: true, readableHighWaterMark: 0, writableHighWaterMark: 0 });
    this.#options = options;
  }

  /** A message of the other side. */
  receive(message: Uint8Array): void {
    const view = new DataView(message.buffer, message.byteOffset, message.byteLength);
    const kind = message.byteLength >= headerBytes ? view.getUint8(0) : kinds.reset;
    const number = kind === kinds.reset ? 0 : view.getUint32(1);
    if (kind === kinds.reset) {
      this.#hasReset = true;
      this.destroy();
    } else if (kind === kinds.credit) {
      this.#credit += number;
      this.#pump();
    } else if (number !== this.#received) this.destroy(new Error('A message between two nodes was lost'));
    else {
      this.#received = (this.#received + 1) >>> 0;
      this.#incoming.push(kind === kinds.end ? null : message.subarray(headerBytes));
      if (this.#wantsMore) this.#deliver();
    }
  }

  override _read(): void {
    this.#wantsMore = true;
    this.#deliver();
  }

  override _write(chunk: Uint8Array, _encoding: string, done: Waiting['done']): void {
    this.#outgoing.push({ chunk, at: 0, done });
    this.#pump();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#send(kinds.end, this.#sent);
    done();
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    const isOver = this.readableEnded && this.writableFinished;
    if (!isOver && !this.#hasReset) this.#send(kinds.reset, 0);
    for (const waiting of this.#outgoing.splice(0)) waiting.done(error ?? new Error('The stream is closed'));
    this.#options.onClose();
    done(error);
  }

  #deliver(): void {
    while (this.#wantsMore && this.#incoming.length > 0) {
      const next = this.#incoming.shift() ?? null;
      this.#wantsMore = this.push(next);
      if (next) this.#take(next.byteLength);
    }
  }

  #take(bytes: number): void {
    this.#taken += bytes;
    if (this.#taken < creditStep) return;
    this.#send(kinds.credit, this.#taken);
    this.#taken = 0;
  }

  #pump(): void {
    for (let first = this.#outgoing[0]; first && this.#credit > 0; first = this.#outgoing[0]) {
      const size = Math.min(largestPiece, this.#credit, first.chunk.byteLength - first.at);
      this.#send(kinds.data, this.#sent, first.chunk.subarray(first.at, first.at + size));
      this.#credit -= size;
      first.at += size;
      if (first.at < first.chunk.byteLength) continue;
      this.#outgoing.shift();
      first.done();
    }
  }

  #send(kind: number, number: number, data?: Uint8Array): void {
    const message = Buffer.allocUnsafe(headerBytes + (data?.byteLength ?? 0));
    message.writeUInt8(kind, 0);
    message.writeUInt32BE(number >>> 0, 1);
    if (data) message.set(data, headerBytes);
    if (kind === kinds.data || kind === kinds.end) this.#sent = (this.#sent + 1) >>> 0;
    this.#options.send(message);
  }
}

const headerBytes = 5;

/** What the other side receives when a stream is broken. */
export const resetMessage: Uint8Array = Uint8Array.of(kinds.reset, 0, 0, 0, 0);
