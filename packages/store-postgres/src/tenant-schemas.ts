import { isOrphaned } from './cluster-queries.js';
import type { Connection } from './connection.js';
import { isRefusal } from './faults.js';
import { inSchema } from './schema.js';

/** How many schemas one statement reads. */
const atOnce = 50;

/** Schemas with tables of this store whose names begin with `prefix`. */
export async function schemasOf(connection: Connection, prefix: string): Promise<readonly string[]> {
  const found = await connection.all<{ readonly name: string }>({
    text: `SELECT table_schema::text AS name FROM information_schema.tables
      WHERE table_name = $2 AND left(table_schema, length($1)) = $1 ORDER BY 1`,
    values: [prefix, 'gc_gate'],
  });
  return found.map(({ name }) => name);
}

/** Those of the schemas with work that no live node has. */
export async function withOrphans(
  connection: Connection,
  schemas: readonly string[],
): Promise<readonly string[]> {
  const found: string[] = [];
  for (let from = 0; from < schemas.length; from += atOnce)
    found.push(...(await lookAt(connection, schemas.slice(from, from + atOnce))));
  return found;
}

/** A schema that is being removed, or is damaged, does not hide the work in others. */
async function lookAt(connection: Connection, schemas: readonly string[]): Promise<readonly string[]> {
  const parts = schemas.map((schema, index) =>
    inSchema(`SELECT $${index + 1}::text AS name WHERE ${isOrphaned}`, schema),
  );
  try {
    const rows = await connection.all<{ readonly name: string }>({
      text: parts.join(' UNION ALL '),
      values: [...schemas],
    });
    return rows.map(({ name }) => name);
  } catch (error) {
    if (!isRefusal(error)) throw error;
    if (schemas.length === 1) return [];
    const each: string[] = [];
    for (const schema of schemas) each.push(...(await lookAt(connection, [schema])));
    return each;
  }
}
