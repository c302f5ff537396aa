/** The push side of an AsyncIterable: one side pushes when it likes, one reader takes in order. */
export class AsyncQueue<T> implements AsyncIterable<T> {
  private items: (IteratorResult<T, undefined> | undefined)[] = [];
  private head = 0;
  private readers: Reader<T>[] = [];
  private failure: { readonly error: unknown } | undefined;
  private ended = false;
  private iterated = false;

  /** `onEmpty` is called whenever the reader takes the last item: the moment to fetch more. */
  constructor(private readonly onEmpty: () => void = () => undefined) {}

  /** How many items wait for the reader. */
  get size(): number {
    return this.items.length - this.head;
  }

  /** What is pushed after the end is dropped. */
  push(value: T): void {
    if (this.ended) return;
    const reader = this.readers.shift();
    if (reader === undefined) this.items.push({ value, done: false });
    else reader.resolve({ value, done: false });
  }

  /** The reader gets what still waits, then the end. */
  end(): void {
    this.ended = true;
    const readers = this.readers;
    this.readers = [];
    for (const reader of readers) reader.resolve({ value: undefined, done: true });
  }

  /** The reader gets what still waits, then the error once, then the end. */
  fail(error: unknown): void {
    if (this.ended) return;
    const reader = this.readers.shift();
    if (reader === undefined) this.failure = { error };
    else reader.reject(error);
    this.end();
  }

  /** Ends at once: what still waits is dropped, and so is a failure. */
  discard(): void {
    this.items = [];
    this.head = 0;
    this.failure = undefined;
    this.end();
  }

  [Symbol.asyncIterator](): AsyncIterableIterator<T, undefined> {
    if (this.iterated) throw new Error('An AsyncQueue may be iterated once');
    this.iterated = true;
    const iterator: AsyncIterableIterator<T, undefined> = {
      next: () => this.next(),
      return: async () => {
        this.discard();
        return { value: undefined, done: true };
      },
      [Symbol.asyncIterator]: () => iterator,
    };
    return iterator;
  }

  private next(): Promise<IteratorResult<T, undefined>> {
    const item = this.take();
    if (item !== undefined) return Promise.resolve(item);
    if (this.failure !== undefined) return this.throwOnce(this.failure.error);
    if (this.ended) return Promise.resolve({ value: undefined, done: true });
    return new Promise((resolve, reject) => {
      this.readers.push({ resolve, reject });
    });
  }

  private take(): IteratorResult<T, undefined> | undefined {
    const item = this.items[this.head];
    if (item === undefined) return undefined;
    this.items[this.head] = undefined;
    this.head += 1;
    if (this.head === this.items.length) {
      this.items.length = 0;
      this.head = 0;
      this.onEmpty();
    } else if (this.head >= 1024 && this.head * 2 >= this.items.length) {
      this.items = this.items.slice(this.head);
      this.head = 0;
    }
    return item;
  }

  private throwOnce(error: unknown): Promise<never> {
    this.failure = undefined;
    return Promise.reject(error);
  }
}

interface Reader<T> {
  resolve(result: IteratorResult<T, undefined>): void;
  reject(error: unknown): void;
}
