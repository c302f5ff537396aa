import type { Owner, SessionStore } from '@groundcrew/store';
import { eventLoopTurn } from '../event-loop-turn.js';

const sessionsPerPage = 200;

/**
 * Deletes what is left of forks and imports whose process was killed in the middle. No client sees it, and it would keep texts
 * of deleted sessions. Those that a live process writes are left alone. Each store is looked through once.
 */
export class UnfinishedLogs {
  private readonly removed = new WeakMap<SessionStore, Promise<void>>();

  constructor(private readonly owner: Owner) {}

  /** Never rejects: a store that cannot be read now fails the request that needs it. */
  async remove(store: SessionStore): Promise<void> {
    const removing = this.removed.get(store) ?? this.removeFrom(store);
    this.removed.set(store, removing);
    await removing.catch(() => this.removed.delete(store));
  }

  private async removeFrom(store: SessionStore): Promise<void> {
    let cursor: string | undefined;
    do {
      const page = await store.list({
        includeEmpty: true,
        limit: sessionsPerPage,
        ...(cursor !== undefined && { cursor }),
      });
      for (const { sessionId, head, owner: writer } of page.items)
        if (head.isUnfinished && !writer) await store.remove(sessionId, this.owner);
      cursor = page.cursor;
      await eventLoopTurn();
    } while (cursor !== undefined);
  }
}
