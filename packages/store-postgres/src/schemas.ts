import { isOrphaned } from './cluster.js';
import type { Connection } from './connection.js';
import { inSchema } from './schema.js';

/** So many schemas are looked at by one statement. */
const atOnce = 50;

/** Schemas of this store whose names begin so and in which some work has no live node. */
export async function schemasWithOrphans(connection: Connection, prefix: string): Promise<readonly string[]> {
  const found = await connection.all<{ readonly name: string }>({
    text: `SELECT table_schema::text AS name FROM information_schema.tables
      WHERE table_name = $2 AND left(table_schema, length($1)) = $1 ORDER BY 1`,
    values: [prefix, 'gc_gate'],
  });
  const names = found.map(({ name }) => name);
  const wanting: string[] = [];
  for (let from = 0; from < names.length; from += atOnce)
    wanting.push(...(await lookAt(connection, names.slice(from, from + atOnce))));
  return wanting;
}

async function lookAt(connection: Connection, names: readonly string[]): Promise<readonly string[]> {
  const parts = names.map((name, index) =>
    inSchema(`SELECT $${index + 1}::text AS name WHERE ${isOrphaned}`, name),
  );
  const rows = await connection.all<{ readonly name: string }>({
    text: parts.join(' UNION ALL '),
    values: [...names],
  });
  return rows.map(({ name }) => name);
}
