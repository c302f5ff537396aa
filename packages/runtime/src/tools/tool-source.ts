import type { Tool } from './tool.js';

/** Where tools of a session come from. */
export interface ToolSource {
  readonly kind: 'builtin' | 'client' | 'mcp';
  /** The tools are known: a turn has nothing to wait for. */
  readonly isReady: boolean;
  /** Resolves when the tools are known, or are not waited for any longer; one bad server does not reject it. */
  ready(signal: AbortSignal): Promise<void>;
  tools(): readonly Tool[];
  /** A tool of this name may still come. */
  mayOffer?(name: string): boolean;
  /** Calls the listener when the tools have changed; returns what ends that. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

/** A source whose tools are always known; their owner calls `changed`. */
export class ListedTools implements ToolSource {
  readonly isReady = true;
  private readonly listeners = new Set<() => void>();

  constructor(
    readonly kind: ToolSource['kind'],
    readonly tools: () => readonly Tool[],
  ) {}

  /** They always are. */
  ready(): Promise<void> {
    return Promise.resolve();
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Calls listeners: the list is another one. */
  changed(): void {
    for (const listener of this.listeners) listener();
  }

  async close(): Promise<void> {
    this.listeners.clear();
  }
}
