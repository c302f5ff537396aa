import type { Readable } from 'node:stream';

/**
 * What a stream yields, as it comes: all that one read of the socket brought is one chunk. With plain listeners, where a
 * stream's own iterator sets up more than one answer needs. Leaving early does not end the stream.
 */
export async function* bodyChunks(stream: Readable): AsyncGenerator<Uint8Array> {
  const body = new Body(stream);
  try {
    for (;;) {
      const chunk = body.take();
      if (chunk) yield chunk;
      else if (body.isOver) return;
      else await body.more();
    }
  } finally {
    body.leave();
  }
}

/** Chunks held back for want of a reader, in bytes, before the stream is asked to wait. */
const mostHeld = 64 * 1024;

class Body {
  #held: Buffer[] = [];
  #bytes = 0;
  #hasEnded = false;
  #error: unknown;
  #wake: () => void = () => undefined;

  constructor(private readonly stream: Readable) {
    stream.on('data', this.#hear).on('end', this.#end).on('close', this.#close).on('error', this.#fail);
    if (stream.errored) this.#error = stream.errored;
    else if (stream.readableEnded) this.#hasEnded = true;
    else if (stream.destroyed) this.#close();
  }

  /** Everything that is there, joined; nothing when there is nothing. Throws what broke the stream, after all it brought. */
  take(): Buffer | undefined {
    const [first] = this.#held;
    if (first === undefined) {
      if (this.#error !== undefined) throw this.#error;
      return undefined;
    }
    const chunk = this.#held.length === 1 ? first : Buffer.concat(this.#held, this.#bytes);
    this.#held = [];
    this.#bytes = 0;
    if (this.stream.isPaused()) this.stream.resume();
    return chunk;
  }

  get isOver(): boolean {
    return this.#hasEnded;
  }

  more(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  leave(): void {
    this.stream.off('data', this.#hear).off('end', this.#end).off('close', this.#close);
    // The listener for errors stays: one that comes after the last reader must not end the process.
  }

  readonly #hear = (chunk: Buffer): void => {
    this.#held.push(chunk);
    this.#bytes += chunk.length;
    if (this.#bytes >= mostHeld) this.stream.pause();
    this.#wake();
  };

  readonly #end = (): void => {
    this.#hasEnded = true;
    this.#wake();
  };

  readonly #fail = (error: unknown): void => {
    this.#error ??= error;
    this.#wake();
  };

  readonly #close = (): void => {
    if (!this.#hasEnded) this.#fail(new Error('The connection was closed before the answer was complete'));
  };
}
