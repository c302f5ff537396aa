import type { Connection } from './connection.js';

/** The one text that there is so far. */
const name = 'permissions';

/** The text, if there is one later than this version. */
export async function readBook(
  connection: Connection,
  after: number,
): Promise<{ readonly version: number; readonly text: string } | undefined> {
  const [row] = await connection.all<{ readonly version: number; readonly text: Buffer }>({
    name: 'gc-book',
    text: 'SELECT version, text FROM gc_book WHERE name = $1 AND version > $2',
    values: [name, after],
  });
  return row && { version: row.version, text: row.text.toString() };
}

/** Writes the version that follows, unless it is there; a lost answer is recognised by the text that stands there. */
export async function writeBook(
  connection: Connection,
  { text, version }: { readonly text: string; readonly version: number },
): Promise<boolean> {
  const bytes = Buffer.from(text);
  const [row] = await connection.all<{ readonly version: number }>({
    name: 'gc-write-book',
    text: `INSERT INTO gc_book AS b (name, version, text) SELECT $1, $2 + 1, $3::bytea
        WHERE $2 = 0 OR EXISTS (SELECT 1 FROM gc_book WHERE name = $1)
      ON CONFLICT (name) DO UPDATE SET version = excluded.version, text = excluded.text
        WHERE b.version = $2 OR (b.version = excluded.version AND b.text = excluded.text)
      RETURNING version`,
    values: [name, version, bytes],
  });
  return row !== undefined;
}
