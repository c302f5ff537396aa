import {
  hasUnspaced,
  indexTerms,
  type SearchHit,
  type SearchRequest,
  type SessionHead,
  StoreError,
  searchTerms,
} from '@groundcrew/store';
import type { Connection } from './connection.js';
import { monotonic } from './monotonic.js';
import { selectRecords } from './records.js';

/**
 * The index of what sessions say. `passage` has the texts, and `passage_text` the words of each, so that exactly these
 * are deleted with it; `secure-delete` takes them out of the index at once. The id of a passage is the session's number
 * and the seq of its record.
 */
const tables = [
  'CREATE TABLE IF NOT EXISTS passage (id INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT',
  `CREATE VIRTUAL TABLE IF NOT EXISTS passage_text USING fts5(
     text, content='passage', content_rowid='id', tokenize='unicode61 remove_diacritics 2')`,
  `INSERT INTO passage_text (passage_text, rank) VALUES ('secure-delete', 1)`,
];

/** Milliseconds and characters of one commit. */
const bounds = { milliseconds: 8, characters: 256 * 1024 };
/** What is taken from the records that were read at once; words of more would take too long. */
const charactersPerBatch = 64 * 1024;
const passagesPerDeletion = 16;

/** A session with records that no search has read. */
interface Unread {
  readonly number: number;
  readonly seq: number;
}

/** Whether there is an index already. */
export function hasIndex(connection: Connection): boolean {
  return connection.get("SELECT 1 FROM sqlite_schema WHERE name = 'passage_text'") !== undefined;
}

/** Makes the tables of the index. */
export function makeIndex(connection: Connection): void {
  if (!hasIndex(connection)) for (const table of tables) connection.run(table);
}

/** Sessions and records up to which a search is quick enough for a thread that serves others. */
const smallStore = { sessions: 500, records: 20_000 };

/** Whether a search may be too long for a thread that serves others; read from the ends of tables, not from all of them. */
export function isLargeStore(connection: Connection): boolean {
  const last = connection.get<{ readonly number: number | null }>(
    'SELECT max(number) AS number FROM session',
  );
  if ((last?.number ?? 0) > smallStore.sessions) return true;
  const all = connection.get<{ readonly records: number | null }>('SELECT sum(seq) AS records FROM session');
  return (all?.records ?? 0) > smallStore.records;
}

/** Sessions with records that no search has read, less those without a prompt. */
export function unreadSessions(connection: Connection): readonly Unread[] {
  return connection.all<Unread>(
    `SELECT s.number, s.seq FROM session s LEFT JOIN searched x ON x.session = s.number
     WHERE s.user_turns > 0 AND s.seq > coalesce(x.seq, 0)`,
  );
}

/** Reads some of these sessions into the index; how many of them are done. */
export function indexSome(
  connection: Connection,
  { unread, textOf }: { readonly unread: readonly Unread[] } & Pick<SearchRequest, 'textOf'>,
): number {
  const began = monotonic();
  let characters = 0;
  let done = 0;
  for (const { number, seq: end } of unread) {
    for (let isRead = false; !isRead; ) {
      if (characters > bounds.characters || monotonic() - began > bounds.milliseconds) return done;
      const read = indexBatch(connection, { number, end, textOf });
      characters += read.characters;
      isRead = read.isRead;
    }
    done += 1;
  }
  return done;
}

/** Sessions with a passage that has all terms, or any; the best first, the newer of two that are as good. */
export function searchIndex(
  connection: Connection,
  { words, limit }: Pick<SearchRequest, 'words' | 'limit'>,
): readonly SearchHit[] {
  const terms = searchTerms(words).map((term) => `"${term}"`);
  if (terms.length === 0 || !hasIndex(connection)) return [];
  const whole = selectHits(connection, terms.join(' AND '), limit);
  return whole.length > 0 || terms.length === 1 ? whole : selectHits(connection, terms.join(' OR '), limit);
}

/** Deletes some passages of a session, and their words; false when none are left. */
export function deleteSomePassages(connection: Connection, session: number): boolean {
  if (!hasIndex(connection)) return false;
  const isMore = deletePassages(connection, { session, first: 0, last: 0xffff_ffff });
  if (!isMore) connection.run('DELETE FROM searched WHERE session = ?', session);
  return isMore;
}

function selectHits(connection: Connection, match: string, limit: number): readonly SearchHit[] {
  return connection.all<SearchHit>(
    `SELECT s.id AS sessionId, hit.id & 4294967295 AS seq, p.text AS text FROM (
       SELECT rowid AS id, min(rank) AS score FROM passage_text WHERE passage_text MATCH ? GROUP BY rowid >> 32
     ) hit JOIN session s ON s.number = hit.id >> 32 JOIN passage p ON p.id = hit.id
     ORDER BY hit.score, s.modified_at DESC LIMIT ?`,
    match,
    limit,
  );
}

/** What cannot be read of a damaged session is not searched. */
function indexBatch(
  connection: Connection,
  { number, end, textOf }: { number: number; end: number } & Pick<SearchRequest, 'textOf'>,
): { readonly isRead: boolean; readonly characters: number } {
  const row = connection.get<{ readonly head: string; readonly read: number }>(
    `SELECT s.head, coalesce(x.seq, 0) AS read FROM session s LEFT JOIN searched x ON x.session = s.number
     WHERE s.number = ?`,
    number,
  );
  if (!row) return { isRead: true, characters: 0 };
  const removed = removedIn(row.head);
  const records = readable(connection, { session: number, after: row.read });
  let characters = 0;
  let read = records.length === 0 ? end : row.read;
  for (const record of records) {
    if (characters > charactersPerBatch) break;
    const text = textOf(record);
    read = record.seq;
    if (text === undefined) continue;
    characters += text.length;
    insertPassage(connection, { session: number, seq: record.seq, text });
  }
  for (const [first, last] of removed)
    while (deletePassages(connection, { session: number, first, last })) characters += 1;
  connection.run(
    'INSERT INTO searched (session, seq) VALUES (?, ?) ON CONFLICT (session) DO UPDATE SET seq = excluded.seq',
    number,
    read,
  );
  return { isRead: read >= end, characters };
}

function readable(connection: Connection, range: { readonly session: number; readonly after: number }) {
  try {
    return selectRecords(connection, range);
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'damaged') return [];
    throw error;
  }
}

function removedIn(head: string): NonNullable<SessionHead['removed']> {
  try {
    return (JSON.parse(head) as SessionHead).removed ?? []; // as we stored it
  } catch {
    // A head that cannot be read is written anew with the next record.
    return [];
  }
}

function insertPassage(
  connection: Connection,
  { session, seq, text }: { readonly session: number; readonly seq: number; readonly text: string },
): void {
  connection.run('INSERT INTO passage (id, text) VALUES ((?1 << 32) | ?2, ?3)', session, seq, text);
  connection.run(
    'INSERT INTO passage_text (rowid, text) VALUES ((?1 << 32) | ?2, ?3)',
    session,
    seq,
    indexedText(text),
  );
}

/** What the index splits into words; it cannot do so itself where no spaces are. Deletion needs the same again. */
function indexedText(text: string): string {
  return hasUnspaced(text) ? indexTerms(text).join(' ') : text;
}

/** False when none are left. */
function deletePassages(
  connection: Connection,
  { session, first, last }: { readonly session: number; readonly first: number; readonly last: number },
): boolean {
  const among = `FROM passage WHERE id BETWEEN (?1 << 32) | ?2 AND (?1 << 32) | ?3 LIMIT ${passagesPerDeletion}`;
  const passages = connection.all<{ readonly seq: number; readonly text: string }>(
    `SELECT id & 4294967295 AS seq, text ${among}`,
    session,
    first,
    last,
  );
  for (const { seq, text } of passages)
    connection.run(
      "INSERT INTO passage_text (passage_text, rowid, text) VALUES ('delete', (?1 << 32) | ?2, ?3)",
      session,
      seq,
      indexedText(text),
    );
  const ids = `SELECT id ${among}`;
  const deleted = connection.run(`DELETE FROM passage WHERE id IN (${ids})`, session, first, last);
  return deleted === passagesPerDeletion;
}
