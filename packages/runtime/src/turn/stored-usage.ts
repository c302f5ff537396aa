import type { SessionStore } from '@groundcrew/store';
import { entryOf } from '../log/entry.js';

/** What one model call took, as the log says it. */
export interface StoredUse {
  /** When it was: the time of the event that its answer became, else of the event before it. */
  readonly at: string;
  /** The `assistant.message` that it brought; absent for calls that answer no prompt, such as summaries. */
  readonly eventId?: string;
  readonly agentId?: string;
  readonly model: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  /** US dollars; null where no price is known. */
  readonly cost: number | null;
  readonly milliseconds: number;
  /** The service did not say: these are estimates. */
  readonly isEstimated?: true;
}

/** The calls of a session that were stored after a place of its log, and the place to go on from. */
export interface StoredUses {
  readonly uses: readonly StoredUse[];
  readonly after: number;
}

type Open = { -readonly [K in keyof StoredUse]: StoredUse[K] };

/** Reads what the model calls of a session took. Nothing is opened. */
export async function readStoredUsage(
  store: Pick<SessionStore, 'read'>,
  sessionId: string,
  after = 0,
): Promise<StoredUses> {
  const uses: Open[] = [];
  let last: Open | undefined;
  let [at, seq] = ['', after];
  for await (const batch of store.read(sessionId, after))
    for (const record of batch) {
      seq = record.seq;
      if (record.type === 'ask.settled') {
        last = useOf(record, at);
        uses.push(last);
        continue;
      }
      if (record.isPublic) {
        const { type, id, timestamp } = JSON.parse(record.json) as PublicPart;
        at = timestamp;
        if (last?.at === '') last.at = at;
        if (last && type === 'assistant.message') Object.assign(last, { eventId: id, at });
      }
      // An answer is written together with what it took; of what lies between, only this can be.
      if (record.type !== 'verbatim') last = undefined;
    }
  return { uses, after: seq };
}

interface PublicPart {
  readonly type: string;
  readonly id: string;
  readonly timestamp: string;
}

function useOf(record: Parameters<typeof entryOf>[0], at: string): Open {
  const entry = entryOf(record);
  // The caller has looked at the type of the record.
  const { data, agentId } = entry as Extract<typeof entry, { readonly note: 'ask.settled' }>;
  const { model, usage, cost, milliseconds, unreported } = data;
  return {
    at,
    ...(agentId !== undefined && { agentId }),
    model,
    inputTokens: unreported?.tokens ?? usage.inputTokens,
    outputTokens: usage.outputTokens,
    cacheReadTokens: usage.cacheReadTokens,
    cost: cost ?? unreported?.cost ?? null,
    milliseconds: Math.round(milliseconds),
    ...(unreported && { isEstimated: true }),
  };
}
