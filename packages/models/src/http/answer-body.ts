/** Where the bytes of a body come from. */
export interface BodySource {
  /** No more for now. */
  pause(): void;
  resume(): void;
  /** Nobody reads on. */
  leave(): void;
}

/** Bytes held back for want of a reader before the source is asked to wait. */
const mostHeld = 64 * 1024;

/** The body of an answer as its reader sees it: all that one read of the connection brought is one chunk. */
export class AnswerBody implements AsyncIterableIterator<Uint8Array> {
  readonly #source: BodySource;
  #held: Buffer[] = [];
  #bytes = 0;
  #isOver = false;
  #error: unknown;
  #wake: (() => void) | undefined;

  constructor(source: BodySource) {
    this.#source = source;
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
      this.#source.leave();
    }
    return { done: true, value: undefined };
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  #take(): Buffer | undefined {
    const [first] = this.#held;
    if (first === undefined) return undefined;
    const chunk = this.#held.length === 1 ? first : Buffer.concat(this.#held, this.#bytes);
    this.#held = [];
    if (this.#bytes >= mostHeld) this.#source.resume();
    this.#bytes = 0;
    return chunk;
  }

  #call(): void {
    this.#wake?.();
    this.#wake = undefined;
  }
}
