/** Where the bytes of a body come from. */
export interface BodySource {
  /** No more for now. */
  pause(): void;
  resume(): void;
  /** The reader has stopped. */
  cancel(): void;
}

/** Bytes held back for want of a reader before the source is asked to wait. */
const mostHeld = 64 * 1024;

/**
 * The body of an answer as its reader sees it: all that came since the last read is one chunk, or, of `messages`, each
 * piece is one.
 */
export class AnswerBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: BodySource;
  readonly #isJoined: boolean;
  #held: Buffer[] = [];
  #bytes = 0;
  #isOver = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  constructor(source: BodySource, pieces: 'bytes' | 'messages' = 'bytes') {
    this.#source = source;
    this.#isJoined = pieces === 'bytes';
  }

  add(bytes: Buffer): void {
    if (this.#isOver) return;
    this.#held.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= mostHeld) this.#source.pause();
    this.#call();
  }

  end(): void {
    this.#isOver = true;
    this.#call();
  }

  /** What is held is still read before this is thrown. */
  fail(error: unknown): void {
    if (this.#isOver) return;
    this.#error = error;
    this.end();
  }

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    for (;;) {
      const chunk = this.#take();
      if (chunk) return { done: false, value: chunk };
      if (this.#error !== undefined) throw this.#error;
      if (this.#isOver) return { done: true, value: undefined };
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.#held = [];
    this.#bytes = 0;
    if (!this.#isOver) {
      this.#isOver = true;
      this.#source.cancel();
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): Buffer | undefined {
    const first = this.#held.shift();
    if (first === undefined) return undefined;
    const wasFull = this.#bytes >= mostHeld;
    const chunk =
      this.#isJoined && this.#held.length > 0 ? Buffer.concat([first, ...this.#held.splice(0)]) : first;
    this.#bytes -= chunk.length;
    if (wasFull && this.#bytes < mostHeld) this.#source.resume();
    return chunk;
  }

  #call(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
