/** Receives things of one sort. What it returns is ignored, unless it is a promise that fails. */
export type Listener<T> = (value: T) => unknown;

interface Entry<T> {
  readonly type: string | undefined;
  readonly listener: Listener<T>;
  isActive: boolean;
}

/** All listeners; each is called, whatever one of them does. */
export class Listeners<T extends { readonly type: string }> {
  /** Replaced, never changed: a listener may come or go while others are being called. */
  private entries: readonly Entry<T>[] = [];

  constructor(private readonly onFailure: (value: T, thrown: unknown) => void) {}

  /** Returns the undo, which may be called at any time and again. */
  add(type: string | undefined, listener: Listener<T>): () => void {
    const entry: Entry<T> = { type, listener, isActive: true };
    this.entries = [...this.entries, entry];
    return () => {
      if (!entry.isActive) return;
      entry.isActive = false;
      this.entries = this.entries.filter((other) => other !== entry);
    };
  }

  deliver(value: T): void {
    for (const entry of this.entries) {
      if (!entry.isActive || (entry.type !== undefined && entry.type !== value.type)) continue;
      this.call(entry.listener, value);
    }
  }

  clear(): void {
    for (const entry of this.entries) entry.isActive = false;
    this.entries = [];
  }

  private call(listener: Listener<T>, value: T): void {
    try {
      const returned = listener(value);
      if (returned instanceof Promise) returned.catch((error: unknown) => this.onFailure(value, error));
    } catch (error) {
      this.onFailure(value, error);
    }
  }
}
