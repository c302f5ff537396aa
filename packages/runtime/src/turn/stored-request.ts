import type { ModelRequest, ToolSpec } from '@groundcrew/models';
import type { SessionStore } from '@groundcrew/store';
import { entryOf } from '../log/entry.js';
import { reduce } from '../log/fold.js';
import { viewOf } from '../log/history-view.js';
import { agentOf, initialState, type SentRequest } from '../log/state.js';
import { HistoryReader } from './history-reader.js';

/** A request of the past, as its wire got it. */
export interface StoredRequest {
  readonly wire: string;
  readonly request: ModelRequest;
}

/** Where a request is looked for: its turn, counted from 1 on, the id of one of its events, or the last one. */
export type TurnChoice = number | string | 'last';

/** There is no such request; the message says why. */
export class NoSuchRequest extends Error {
  override readonly name = 'NoSuchRequest';
}

/** Writes the request of a turn again, from what the log says. Throws NoSuchRequest, StoreError for a log that is damaged. */
export async function readStoredRequest(
  store: SessionStore,
  sessionId: string,
  choice: TurnChoice,
): Promise<StoredRequest> {
  const { turns, offers } = await readTurns(store, sessionId);
  const sent = chosen(turns, choice);
  const { systemPrompt, history } = await agentAt(store, sessionId, sent.atSeq);
  const request = {
    system: systemPrompt,
    messages: new HistoryReader().read(viewOf(history, sent.cut, sent.view.model), sent.view),
    tools: offers.get(sent.tools) ?? [],
    ...sent.options,
  };
  // The options are those of a request less these three; `optionsOf` took them apart.
  return { wire: sent.wire, request: request as unknown as ModelRequest };
}

interface StoredTurn {
  readonly eventIds: Set<string>;
  sent?: SentRequest;
}

async function readTurns(store: SessionStore, sessionId: string) {
  const turns: StoredTurn[] = [];
  const offers = new Map<string, readonly ToolSpec[]>();
  for await (const batch of store.read(sessionId))
    for (const record of batch) {
      if (!kinds.has(record.type)) continue;
      const entry = entryOf(record);
      if ('note' in entry) {
        if (entry.note === 'tools.offered') offers.set(entry.data.digest, entry.data.tools);
        const turn = turns.at(-1);
        if (entry.note === 'request.sent' && entry.agentId === undefined && turn) turn.sent = entry.data;
        continue;
      }
      const { type, id, agentId } = entry.event;
      if (agentId !== undefined) continue;
      if (type === 'assistant.turn_start') turns.push({ eventIds: new Set([id]) });
      else turns.at(-1)?.eventIds.add(id);
    }
  return { turns, offers };
}

const kinds = new Set(['assistant.turn_start', 'assistant.message', 'request.sent', 'tools.offered']);

function chosen(turns: readonly StoredTurn[], choice: TurnChoice): SentRequest {
  const turn = turns.at(placeOf(turns, choice));
  if (!turn) {
    const range = turns.length === 0 ? 'no turn yet' : `turns 1 to ${turns.length}`;
    throw new NoSuchRequest(`There is no turn ${choice}: the session has ${range}`);
  }
  if (turn.sent) return turn.sent;
  throw new NoSuchRequest(
    `The request of turn ${choice} was not stored: the runtime ended before the model had answered, or did not keep requests yet`,
  );
}

function placeOf(turns: readonly StoredTurn[], choice: TurnChoice): number {
  if (choice === 'last') return -1;
  if (typeof choice === 'number') return choice < 1 ? turns.length : choice - 1;
  const found = turns.findIndex(({ eventIds }) => eventIds.has(choice));
  return found < 0 ? turns.length : found;
}

async function agentAt(store: SessionStore, sessionId: string, seq: number) {
  let state = initialState;
  for await (const batch of store.read(sessionId))
    for (const record of batch) {
      if (record.seq > seq) return agentOf(state);
      state = reduce(state, entryOf(record));
    }
  return agentOf(state);
}
