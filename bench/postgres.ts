import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { findPostgres, openPostgres, RuleModel } from '@groundcrew/testkit';
import { BenchRuntime } from './client.js';
import { rule } from './measures.js';
import { timed, typical } from './statistics.js';

const usage = `Compares turns of sessions in PostgreSQL with those in SQLite, in turns on one machine.

  npm run bench:postgres                 200 turns each, and 50 sessions at once
  npm run bench:postgres -- --turns N    so many
`;

/** A turn in PostgreSQL may take so many times that of SQLite. */
const most = 3;
const sessionsAtOnce = 50;

const { values } = parseArgs({ options: { turns: { type: 'string' }, help: { type: 'boolean' } } });
if (values.help) process.stdout.write(usage);
else process.exitCode = (await compare(Number(values.turns ?? 200))) ? 0 : 1;
process.exit();

async function compare(turns: number): Promise<boolean> {
  const source = findPostgres(process.env, { downloaded: true });
  if (typeof source === 'string') throw new Error(`Nothing to compare with: ${source}`);
  // Both stores sync to the same disk.
  const server = await openPostgres(source, { fsync: 'on' });
  const [about] = await server.query<{ readonly server_version: string }>('SHOW server_version');
  const root = mkdtempSync(join(tmpdir(), 'groundcrew-bench-'));
  const model = await RuleModel.open(rule);
  const sqlite = new BenchRuntime(model, { root });
  const postgres = new BenchRuntime(model, {
    root,
    environment: { GROUNDCREW_STORE: await server.newDatabase() },
  });
  const runtimes = { sqlite, postgres };
  try {
    const rows = [
      await measure('a turn', runtimes, { turns, prompt: 'Hello' }),
      await measure('a turn with a tool', runtimes, { turns: Math.ceil(turns / 2), prompt: 'tool' }),
      await measureMany(runtimes),
    ];
    console.log(
      `PostgreSQL ${about?.server_version}, synchronous_commit on, fsync on; lower quartiles in ms`,
    );
    for (const { name, sqlite: one, postgres: other } of rows)
      console.log(
        `${name.padEnd(24)} SQLite ${one.toFixed(2).padStart(8)}   PostgreSQL ${other.toFixed(2).padStart(8)}   × ${(other / one).toFixed(2)}`,
      );
    return rows.every((row) => row.postgres <= most * row.sqlite);
  } finally {
    await Promise.all([sqlite.stop(), postgres.stop()]);
    await model.close();
    await server.close();
    rmSync(root, { recursive: true, force: true, maxRetries: 5 });
  }
}

interface Runtimes {
  readonly sqlite: BenchRuntime;
  readonly postgres: BenchRuntime;
}

interface Row extends Readonly<Record<'sqlite' | 'postgres', number>> {
  readonly name: string;
}

/** One turn here, one there, so that whatever else the machine does falls on both. */
async function measure(
  name: string,
  runtimes: Runtimes,
  { turns, prompt }: { readonly turns: number; readonly prompt: string },
): Promise<Row> {
  const ids = { sqlite: await runtimes.sqlite.create(), postgres: await runtimes.postgres.create() };
  const times: { sqlite: number[]; postgres: number[] } = { sqlite: [], postgres: [] };
  for (let turn = -10; turn < turns; turn += 1)
    for (const store of ['sqlite', 'postgres'] as const) {
      const milliseconds = await timed(() => runtimes[store].turn(ids[store], prompt));
      if (turn >= 0) times[store].push(milliseconds);
    }
  return { name, sqlite: typical(times.sqlite), postgres: typical(times.postgres) };
}

/** Many sessions at once, each with one turn. */
async function measureMany(runtimes: Runtimes): Promise<Row> {
  const times: { sqlite: number[]; postgres: number[] } = { sqlite: [], postgres: [] };
  const ids = {
    sqlite: await Promise.all(Array.from({ length: sessionsAtOnce }, () => runtimes.sqlite.create())),
    postgres: await Promise.all(Array.from({ length: sessionsAtOnce }, () => runtimes.postgres.create())),
  };
  for (let round = -1; round < 7; round += 1)
    for (const store of ['sqlite', 'postgres'] as const) {
      const milliseconds = await timed(() =>
        Promise.all(ids[store].map((id) => runtimes[store].turn(id, 'Hello'))),
      );
      if (round >= 0) times[store].push(milliseconds);
    }
  return {
    name: `${sessionsAtOnce} turns at once`,
    sqlite: typical(times.sqlite),
    postgres: typical(times.postgres),
  };
}
