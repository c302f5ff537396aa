import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import {
  indexTerms,
  type LogRecord,
  type SearchHit,
  type SearchRequest,
  searchTerms,
} from '@groundcrew/store';
import { columnText, type HeadRow, headColumns, readHead } from './columns.js';
import type { Connection } from './connection.js';

/** Milliseconds for which words are taken out of texts at a stretch; then others have their turn. */
const longestStretch = 5;

/** A session with records that no search has read. */
export interface Unread extends HeadRow {
  readonly number: number;
  readonly id: string;
  /** As far as it has been read. */
  readonly read: number;
}

const sessionsPerPage = 200;
const isUnread = `FROM gc_session s LEFT JOIN gc_searched x ON x.session = s.number
  WHERE s.user_turns > 0 AND s.seq > coalesce(x.seq, 0)`;

/** Does something with a connection. */
export type Look = <T>(work: (connection: Connection) => Promise<T>) => Promise<T>;

/** Reads the sessions with records that no search has read, less those without a prompt; a page of them at a time. */
export async function readUnread({
  look,
  index,
  onProgress,
}: Pick<SearchRequest, 'onProgress'> & {
  readonly look: Look;
  index(session: Unread): Promise<void>;
}): Promise<void> {
  const of = await look(countUnread);
  let done = 0;
  for (let after: number | undefined = 0; after !== undefined; ) {
    const last: number = after;
    const page: readonly Unread[] = await look((connection) => unreadAfter(connection, last));
    for (const session of page) {
      await index(session);
      done += 1;
      onProgress?.({ done: Math.min(done, of), of });
    }
    after = page.at(-1)?.number;
  }
}

async function countUnread(connection: Connection): Promise<number> {
  const [row] = await connection.all<{ readonly count: number }>({
    text: `SELECT count(*)::integer AS count ${isUnread}`,
  });
  return row?.count ?? 0;
}

function unreadAfter(connection: Connection, after: number): Promise<readonly Unread[]> {
  return connection.all({
    text: `SELECT s.number, s.id, coalesce(x.seq, 0) AS read, ${headColumns} ${isUnread}
      AND s.number > $1 ORDER BY s.number LIMIT ${sessionsPerPage}`,
    values: [after],
  });
}

/** Adds what these records say; nothing of a session that was removed meanwhile, or that another node has read further. */
export async function indexRecords(
  connection: Connection,
  {
    session,
    records,
    textOf,
  }: { session: Unread; records: readonly LogRecord[] } & Pick<SearchRequest, 'textOf'>,
): Promise<void> {
  const said: { readonly seq: number; readonly text: string; readonly words: string }[] = [];
  let began = performance.now();
  for (const record of records) {
    if (performance.now() - began > longestStretch) {
      await turnOfTheLoop();
      began = performance.now();
    }
    const given = textOf(record);
    if (given === undefined) continue;
    const text = columnText(given);
    said.push({ seq: record.seq, text, words: indexTerms(text).map(shortened).join(' ') });
  }
  const last = records.at(-1)?.seq ?? session.read;
  await connection.all({
    text: `WITH there AS (SELECT number FROM gc_session WHERE number = $1 FOR KEY SHARE),
      searched AS (INSERT INTO gc_searched (session, seq) SELECT number, $2 FROM there
        ON CONFLICT (session) DO UPDATE SET seq = greatest(gc_searched.seq, excluded.seq))
      INSERT INTO gc_passage (session, seq, text, words)
      SELECT number, p.seq, p.text, to_tsvector('simple', p.words)
      FROM there, unnest($3::bigint[], $4::text[], $5::text[]) AS p(seq, text, words) ON CONFLICT DO NOTHING`,
    values: [
      session.number,
      last,
      said.map(({ seq }) => seq),
      said.map(({ text }) => text),
      said.map(({ words }) => words),
    ],
  });
}

/** Deletes what readers no longer see of a session. */
export async function forgetRemoved(connection: Connection, session: Unread): Promise<void> {
  const { removed = [] } = readHead(session, () => undefined);
  for (const [first, last] of removed)
    await connection.all({
      text: 'DELETE FROM gc_passage WHERE session = $1 AND seq BETWEEN $2 AND $3',
      values: [session.number, first, last],
    });
}

/** Sessions with a passage that has all terms, or any; the best first, the newer of two that are as good. */
export async function searchPassages(
  connection: Connection,
  { words, limit }: Pick<SearchRequest, 'words' | 'limit'>,
): Promise<readonly SearchHit[]> {
  const terms = [...new Set(searchTerms(words).map(shortened))].map((term) => `'${term}'`);
  if (terms.length === 0) return [];
  const whole = await selectHits(connection, terms.join(' & '), limit);
  return whole.length > 0 || terms.length === 1 ? whole : selectHits(connection, terms.join(' | '), limit);
}

function selectHits(connection: Connection, query: string, limit: number): Promise<readonly SearchHit[]> {
  return connection.all({
    text: `SELECT s.id AS "sessionId", hit.seq, p.text FROM (
        SELECT DISTINCT ON (session) session, seq, ts_rank(words, q, 1) AS score
        FROM gc_passage, to_tsquery('simple', $1) q WHERE words @@ q ORDER BY session, score DESC
      ) hit JOIN gc_session s ON s.number = hit.session
      JOIN gc_passage p ON p.session = hit.session AND p.seq = hit.seq
      ORDER BY hit.score DESC, s.modified_at DESC LIMIT $2`,
    values: [query, limit],
  });
}

/** A word of a text search may have 2046 bytes. */
function shortened(term: string): string {
  return term.slice(0, 500);
}
