import type { ModelRequest, ToolSpec } from '@groundcrew/models';
import type { SessionStore } from '@groundcrew/store';
import { entryOf } from '../log/entry.js';
import { reduce } from '../log/fold.js';
import { viewOf } from '../log/history-view.js';
import { agentOf, initialState, type SentRequest, type SessionState } from '../log/state.js';
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
  const { sent, agentId } = chosen(turns, choice);
  const { systemPrompt, history } = agentOf(await stateAt(store, sessionId, sent.atSeq), agentId);
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
  /** A sub-agent's; turns of the session itself have none. */
  readonly agentId: string | undefined;
  readonly eventIds: Set<string>;
  sent?: SentRequest;
}

async function readTurns(store: SessionStore, sessionId: string) {
  const turns: StoredTurn[] = [];
  const last = new Map<string | undefined, StoredTurn>();
  const offers = new Map<string, readonly ToolSpec[]>();
  for await (const batch of store.read(sessionId))
    for (const record of batch) {
      if (!kinds.has(record.type)) continue;
      const entry = entryOf(record);
      if ('note' in entry) {
        if (entry.note === 'tools.offered') offers.set(entry.data.digest, entry.data.tools);
        const turn = last.get(entry.agentId);
        if (entry.note === 'request.sent' && turn) turn.sent = entry.data;
        continue;
      }
      const { type, id, agentId } = entry.event;
      if (type === 'assistant.turn_start') {
        const turn = { agentId, eventIds: new Set([id]) };
        turns.push(turn);
        last.set(agentId, turn);
      } else last.get(agentId)?.eventIds.add(id);
    }
  return { turns, offers };
}

const kinds = new Set(['assistant.turn_start', 'assistant.message', 'request.sent', 'tools.offered']);

function chosen(turns: readonly StoredTurn[], choice: TurnChoice) {
  const own = turns.filter(({ agentId }) => agentId === undefined);
  const turn = turnOf(turns, own, choice);
  if (!turn) {
    const range = own.length === 0 ? 'no turn yet' : `turns 1 to ${own.length}`;
    throw new NoSuchRequest(`There is no turn ${choice}: the session has ${range}`);
  }
  if (turn.sent) return { sent: turn.sent, agentId: turn.agentId };
  throw new NoSuchRequest(
    `The request of turn ${choice} was not stored: the runtime ended before the model had answered, or did not keep requests yet`,
  );
}

/** Numbers count the turns of the session itself; those of sub-agents are found by their events. */
function turnOf(
  all: readonly StoredTurn[],
  own: readonly StoredTurn[],
  choice: TurnChoice,
): StoredTurn | undefined {
  if (choice === 'last') return own.at(-1);
  if (typeof choice === 'number') return own[choice - 1];
  return all.find(({ eventIds }) => eventIds.has(choice));
}

async function stateAt(store: SessionStore, sessionId: string, seq: number): Promise<SessionState> {
  let state = initialState;
  for await (const batch of store.read(sessionId))
    for (const record of batch) {
      if (record.seq > seq) return state;
      state = reduce(state, entryOf(record));
    }
  return state;
}
