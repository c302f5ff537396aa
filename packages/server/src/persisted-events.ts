import { RawJson } from '@groundcrew/rpc';
import type { Runtime } from '@groundcrew/runtime';
import { Refusal } from './failure.js';

/** What is asked of the stored events of a session. */
export interface PersistedRead {
  readonly sessionId: string;
  readonly cursor?: string | undefined;
  readonly max?: number | undefined;
  readonly direction?: string | undefined;
}

/** About as much as a page may have; one event that is longer comes alone. */
const pageCharacters = 1024 * 1024;
const mostEvents = 1000;

/** A page of stored events of a session that need not be open, in the order they were written. */
export async function readPersisted(
  { sessionId, cursor, max = 200, direction = 'forward' }: PersistedRead,
  runtime: Runtime,
): Promise<RawJson> {
  if (max < 1 || max > mostEvents) throw new Refusal(`'max' is 1 to ${mostEvents}, not ${max}`);
  const place = placeOf(cursor, direction);
  if (!place) return page([], { cursor: cursor ?? '', hasMore: false, status: 'expired' });
  const { isBackward, seq } = place;
  const read = isBackward
    ? await newest(runtime, sessionId, { before: seq, max })
    : await oldest(runtime, sessionId, { after: seq, max });
  const edge = isBackward ? read.found[0] : read.found.at(-1);
  const next = `${isBackward ? 'b' : 'f'}${edge?.seq ?? seq}`;
  return page(read.found, { cursor: next, hasMore: read.hasMore, status: 'ok' });
}

interface Found {
  readonly seq: number;
  readonly json: string;
}

interface Read {
  readonly found: readonly Found[];
  readonly hasMore: boolean;
}

function placeOf(cursor: string | undefined, direction: string) {
  if (cursor === undefined) {
    const isBackward = direction === 'backward';
    return { isBackward, seq: isBackward ? Number.MAX_SAFE_INTEGER : 0 };
  }
  const [, way, seq] = /^([bf])(\d{1,15})$/.exec(cursor) ?? [];
  return way === undefined ? undefined : { isBackward: way === 'b', seq: Number(seq) };
}

async function oldest(
  runtime: Runtime,
  sessionId: string,
  { after, max }: { readonly after: number; readonly max: number },
): Promise<Read> {
  const found: Found[] = [];
  let characters = 0;
  for await (const batch of runtime.stored.read(sessionId, after)) {
    for (const { seq, json, isPublic } of batch) {
      if (!isPublic) continue;
      characters += json.length;
      const isFull = found.length === max || (found.length > 0 && characters > pageCharacters);
      if (isFull) return { found, hasMore: true };
      found.push({ seq, json });
    }
  }
  return { found, hasMore: false };
}

/** Reads all that is older, and keeps the end of it. */
async function newest(
  runtime: Runtime,
  sessionId: string,
  { before, max }: { readonly before: number; readonly max: number },
): Promise<Read> {
  const found: Found[] = [];
  let characters = 0;
  let hasMore = false;
  for await (const batch of runtime.stored.read(sessionId)) {
    for (const { seq, json, isPublic } of batch) {
      if (!isPublic || seq >= before) continue;
      found.push({ seq, json });
      characters += json.length;
      while (found.length > max || (found.length > 1 && characters > pageCharacters)) {
        characters -= found.shift()?.json.length ?? 0;
        hasMore = true;
      }
    }
  }
  return { found, hasMore };
}

function page(
  found: readonly Found[],
  {
    cursor,
    hasMore,
    status,
  }: { readonly cursor: string; readonly hasMore: boolean; readonly status: string },
): RawJson {
  const list = found.map(({ json }) => json).join(',');
  return new RawJson(
    `{"events":[${list}],"cursor":${JSON.stringify(cursor)},"hasMore":${hasMore},"cursorStatus":"${status}"}`,
  );
}
