import { type AnyEvent, events, type Methods, type ParsedParams } from '@groundcrew/protocol';
import { RawJson } from '@groundcrew/rpc';
import type { Session } from '@groundcrew/runtime';

type ReadParams = Pick<
  ParsedParams<Methods['session.eventLog.read']>,
  'cursor' | 'max' | 'types' | 'agentScope' | 'agentIds' | 'includeEphemeral' | 'direction'
>;

const defaultPage = 100;
const largestPage = 1000;
/** About as much as a page may have; one event that is longer comes alone. */
const pageCharacters = 4 * 1024 * 1024;
/** Records that are looked at for a page at once. */
const stretch = 256;

/** A place among the events of a session: after a stored record, and after so many ephemeral events. */
export interface Cursor {
  readonly seq: number;
  readonly number: number;
}

/** Where a reader wants to go on. */
interface Place extends Cursor {
  /** What the cursor meant is not there, and reading begins anew. */
  readonly isLost: boolean;
}

/** An event on a page. */
export interface FoundEvent extends Cursor {
  readonly json: string;
}

/** Some events in order, and where they end. */
export class EventPage {
  constructor(
    readonly events: readonly FoundEvent[],
    readonly next: { readonly cursor: string; readonly hasMore: boolean; readonly isLost: boolean },
  ) {}

  result(): RawJson {
    const list = this.events.map(({ json }) => json).join(',');
    const { cursor, hasMore, isLost } = this.next;
    const status = isLost ? 'expired' : 'ok';
    return new RawJson(
      `{"events":[${list}],"cursor":"${cursor}","hasMore":${hasMore},"cursorStatus":"${status}"}`,
    );
  }
}

/** Events from the cursor on, stored and ephemeral, in the order they came. */
export async function readForward(session: Session, params: ReadParams): Promise<EventPage> {
  const from = await placeOf(session, params);
  const { isLost } = from;
  const max = sizeOf(params);
  const tail = session.readers.ephemerals.tail;
  const stored = await readStored(session, params, { after: from.seq, max });
  const recent = wantsEphemeral(params) ? ephemeralsAfter(session, params, from) : [];
  // What comes after a stored event that is still to be read comes after it on the next page.
  const ephemerals = stored.hasMore ? recent.filter(({ seq }) => seq <= stored.seq) : recent;
  const all = [...stored.found, ...ephemerals].sort((a, b) => a.seq - b.seq || a.number - b.number);
  const page = all.slice(0, max);
  const hasMore = all.length > max || stored.hasMore;
  const last = page.at(-1);
  const next = hasMore
    ? { seq: last?.seq ?? from.seq, number: Math.max(from.number, last?.number ?? 0) }
    : { seq: Math.max(from.seq, stored.seq), number: tail };
  return new EventPage(page, { cursor: cursorText(next), hasMore, isLost });
}

interface Stored {
  readonly found: readonly FoundEvent[];
  readonly hasMore: boolean;
  /** The last record looked at. */
  readonly seq: number;
}

async function readStored(
  session: Session,
  params: ReadParams,
  range: { readonly after: number; readonly max: number; readonly last?: number; readonly most?: number },
): Promise<Stored> {
  const found: FoundEvent[] = [];
  const { last = Number.POSITIVE_INFINITY } = range;
  let characters = 0;
  let seq = range.after;
  if (seq >= last) return { found, hasMore: false, seq };
  for await (const batch of session.read(range.after)) {
    for (const record of batch) {
      if (record.seq > last) return { found, hasMore: true, seq };
      const isFound = record.isPublic && isWanted(record, params);
      if (isFound) characters += record.json.length;
      const isFull =
        found.length === range.max || (found.length > 0 && characters > (range.most ?? pageCharacters));
      if (isFound && isFull) return { found, hasMore: true, seq };
      if (isFound) found.push({ seq: record.seq, number: 0, json: record.json });
      seq = record.seq;
    }
    if (seq >= last) break;
  }
  return { found, hasMore: false, seq };
}

/** The newest events before the cursor, in the order they were written; the new cursor stands before them and leads on backward. */
export async function readBackward(session: Session, params: ReadParams): Promise<EventPage> {
  const { seq, isLost } = await placeOf(session, params);
  const before = !params.cursor || isLost ? Number.POSITIVE_INFINITY : seq;
  const max = sizeOf(params);
  let kept: FoundEvent[] = [];
  let end = Math.min(before, (await session.state()).seq);
  // From the end on, a stretch at a time: a page costs what is in it, however long the log is.
  while (end > 0 && kept.length <= max) {
    const start = Math.max(0, end - stretch);
    const { found } = await readStored(session, params, {
      after: start,
      max: stretch,
      last: end,
      most: Number.POSITIVE_INFINITY,
    });
    kept = [...found, ...kept];
    end = start;
    if (charactersOf(kept) > pageCharacters) break;
  }
  const fitting = lastFitting(kept, max);
  const hasMore = kept.length > fitting.length || end > 0;
  kept = fitting;
  const cursor = `${backwardMark}${Math.max(0, (kept[0]?.seq ?? 1) - 1)}`;
  return new EventPage(kept, { cursor, hasMore, isLost });
}

function charactersOf(found: readonly FoundEvent[]): number {
  return found.reduce((sum, { json }) => sum + json.length, 0);
}

/** The newest that fit on a page, one at least. */
function lastFitting(found: readonly FoundEvent[], max: number): FoundEvent[] {
  let characters = 0;
  let count = 0;
  for (const { json } of found.toReversed()) {
    characters += json.length;
    if (count === max || (count > 0 && characters > pageCharacters)) break;
    count += 1;
  }
  return found.slice(found.length - count);
}

function ephemeralsAfter(session: Session, params: ReadParams, from: Cursor): FoundEvent[] {
  return session.readers.ephemerals
    .after(from.number)
    .filter(({ published }) => isWanted(published, params))
    .map(({ afterSeq, number, published }) => ({ seq: afterSeq, number, json: published.json }));
}

/** Ephemeral events are for those who ask for them, by name or altogether. */
function wantsEphemeral({ includeEphemeral, types }: ReadParams): boolean {
  if (includeEphemeral !== undefined) return includeEphemeral;
  return (
    Array.isArray(types) &&
    types.some((type) => !(events as Record<string, { durable: boolean }>)[type]?.durable)
  );
}

function isWanted(
  { type, json }: { readonly type: string; readonly json: string },
  { types, agentScope, agentIds }: ReadParams,
): boolean {
  if (Array.isArray(types) && !types.includes(type)) return false;
  if (agentScope !== 'primary' && !agentIds) return true;
  const { agentId } = JSON.parse(json) as AnyEvent;
  if (agentIds) return agentId !== undefined && agentIds.includes(agentId);
  return agentId === undefined;
}

/** A place as clients keep it. */
export function cursorText({ seq, number }: Cursor): string {
  return number === 0 ? `${seq}` : `${seq}:${number}`;
}

/** The first character of cursors that go backward; their direction does not depend on other parameters. */
const backwardMark = '<';

/** Whether a reader goes from the newest event to the first. */
export function isBackward({ cursor, direction }: ReadParams): boolean {
  return cursor?.startsWith(backwardMark) || direction === 'backward';
}

/** A cursor that is no place of this session, or no longer, is lost; ephemeral events are counted anew by each process. */
async function placeOf(session: Session, { cursor = '' }: ReadParams): Promise<Place> {
  if (cursor === '') return { seq: 0, number: 0, isLost: false };
  const [, place, count = '0'] = /^<?(\d{1,15})(?::(\d{1,15}))?$/.exec(cursor) ?? [];
  const seq = Number(place);
  if (place === undefined || seq > (await session.state()).seq) return { seq: 0, number: 0, isLost: true };
  const number = Number(count) > session.readers.ephemerals.tail ? 0 : Number(count);
  return { seq, number, isLost: false };
}

function sizeOf({ max = defaultPage }: ReadParams): number {
  return Math.min(max, largestPage);
}
