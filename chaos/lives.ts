import type { ChaosClient } from './client.js';
import { idOf } from './client.js';
import { also, next, work } from './conversation.js';
import { type Lab, type Life, type LifeEnd, live } from './lab.js';
import type { Ledger } from './ledger.js';

/** The first process: makes the sessions and works on all of them at once until it is done or killed. */
export function firstLife(lab: Lab, life: Life): Promise<LifeEnd> {
  return live(lab, life, async ([first, second]) => {
    if (!first) return;
    await Promise.all(
      life.ledgers.map(async (ledger) => {
        await first.create(ledger);
        await second?.join(ledger);
        await first.send(ledger, work);
        await first.until(ledger, (events) => events.some(({ type }) => type === 'permission.requested'));
        await first.send(ledger, also);
        await first.untilIdle(ledger, [work, also]);
      }),
    );
  });
}

/** A later process on the same home: goes on, or closes what was left, and then has another turn. */
export function laterLife(
  lab: Lab,
  life: Life,
  how: { readonly continuePendingWork: boolean },
): Promise<LifeEnd> {
  return live(lab, life, async ([first, second]) => {
    if (!first) return;
    await Promise.all(
      life.ledgers.map(async (ledger) => {
        ledger.lives += 1;
        await reopen(first, ledger, how);
        await second?.join(ledger);
        await first.answerOpen(ledger, { isAwaited: how.continuePendingWork });
        for (const line of [work, also]) {
          if (!ledger.acknowledged.includes(idOf(ledger, line))) await first.send(ledger, line);
        }
        await first.send(ledger, next);
        await first.untilIdle(ledger, [next]);
      }),
    );
  });
}

/** A session whose making was acknowledged must be there; one that was cut short may be, else it is made again. */
export async function reopen(
  client: ChaosClient,
  ledger: Ledger,
  how: { readonly continuePendingWork: boolean },
): Promise<void> {
  try {
    await client.resume(ledger, how);
  } catch (error) {
    const isUnknown = error instanceof Error && error.message.includes('not found');
    if (ledger.isCreated || !isUnknown) throw error;
    await client.create(ledger);
  }
}
