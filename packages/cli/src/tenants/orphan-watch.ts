import { setTimeout as pause } from 'node:timers/promises';
import type { ClusterStore } from '@groundcrew/store';

/** What the watch needs. */
export interface OrphanWatchParts {
  cluster(): Promise<Pick<ClusterStore, 'schemasWithOrphans'>>;
  /** How schemas of tenants begin; the name of the tenant follows. */
  readonly prefix: string;
  /** Whether the runtime of the tenant is here; it then looks for work itself. */
  isHere(tenant: string): boolean;
  wake(tenant: string): Promise<void>;
  warn(message: string): void;
}

const lookEveryMs = 250;
/** Nodes wait for a random time up to this, so that one starts the runtime and the others find no work left. */
const spreadMs = 500;
/** A runtime that could not take work over is not started again before this: another node may have what it lacks. */
const againMs = 10_000;

/** Finds tenants whose work no live node has, and starts their runtimes here: they take over what they can. */
export class OrphanWatch {
  private readonly tried = new Map<string, number>();
  private readonly closing = new AbortController();
  private lastWarning = '';
  private readonly running: Promise<void>;

  constructor(private readonly parts: OrphanWatchParts) {
    this.running = this.run();
  }

  async close(): Promise<void> {
    this.closing.abort();
    await this.running;
  }

  private async run(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      try {
        await this.look();
        this.lastWarning = '';
      } catch (error) {
        const { message } = error as Error;
        if (message !== this.lastWarning) this.parts.warn(`Work of tenants cannot be looked for: ${message}`);
        this.lastWarning = message;
      }
      await pause(lookEveryMs, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  private async look(): Promise<void> {
    const { cluster, prefix } = this.parts;
    const { signal } = this.closing;
    const found = this.wanted(await (await cluster()).schemasWithOrphans(prefix));
    if (found.length === 0) return;
    await pause(Math.random() * spreadMs, undefined, { signal, ref: false }).catch(() => undefined);
    if (signal.aborted) return;
    const still = this.wanted(await (await cluster()).schemasWithOrphans(prefix));
    for (const tenant of still) this.tried.set(tenant, performance.now());
    await Promise.all(still.map((tenant) => this.parts.wake(tenant)));
  }

  private wanted(schemas: readonly string[]): readonly string[] {
    const now = performance.now();
    for (const [tenant, at] of this.tried) if (now - at > againMs) this.tried.delete(tenant);
    return schemas
      .map((schema) => schema.slice(this.parts.prefix.length))
      .filter((tenant) => !this.parts.isHere(tenant) && !this.tried.has(tenant));
  }
}
