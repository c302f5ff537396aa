import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import { StoreError } from '@groundcrew/store';
import { readAddresses } from './address.js';
import { Connection } from './connection.js';
import { storeFault } from './faults.js';
import { readVersion, requireKnown, requireServer } from './migrate.js';
import { readBatch } from './read-records.js';

/** One thing that users should know; `unfinished` ones are put right by a store that is opened. */
export interface ServerFinding {
  readonly type: 'problem' | 'warning' | 'note' | 'unfinished';
  readonly message: string;
}

/** What was found. */
export interface ServerInspection {
  /** The primary, for users to read. */
  readonly name: string;
  readonly findings: readonly ServerFinding[];
  readonly contents?: { readonly sessions: number; readonly records: number; readonly version: number };
}

const limits = { connect: 5_000, answer: 600_000, lock: 5_000 };

/** Looks at every server of the address, at what the primary promises, and at every session and record. Changes nothing. */
export async function inspectServers(url: string): Promise<ServerInspection> {
  const findings: ServerFinding[] = [];
  const primaries: Connection[] = [];
  const addresses = readAddresses(url);
  for (const address of addresses) {
    try {
      const connection = await Connection.open(address, { limits });
      if (!connection.facts.isStandby) primaries.push(connection);
      else {
        findings.push({ type: 'note', message: `${address.name} is a standby.` });
        await connection.close();
      }
    } catch (error) {
      findings.push({
        type: 'problem',
        message: `${address.name} cannot be reached: ${(error as Error).message}`,
      });
    }
  }
  const [primary] = primaries;
  const name = primary?.address.name ?? addresses[0]?.name ?? '';
  try {
    if (!primary)
      return { name, findings: [...findings, { type: 'problem', message: 'There is no primary.' }] };
    if (primaries.length > 1)
      findings.push({
        type: 'problem',
        message: `${primaries.length} servers say that they are the primary: sessions could go on differently in each. Leave one.`,
      });
    return { name, ...(await inspectPrimary(primary, findings)) };
  } finally {
    for (const connection of primaries) await connection.close();
  }
}

async function inspectPrimary(
  connection: Connection,
  before: readonly ServerFinding[],
): Promise<Omit<ServerInspection, 'name'>> {
  const findings = [...before];
  try {
    requireServer(connection);
    findings.push(...durability(connection), ...(await standbys(connection)));
    const schema = await readVersion(connection);
    if (!schema) return { findings: [...findings, { type: 'note', message: 'There are no tables yet.' }] };
    requireKnown(schema, { connection });
    findings.push(...(await leftovers(connection)));
    const { sessions, records, problems } = await inspectSessions(connection);
    return { findings: [...findings, ...problems], contents: { sessions, records, version: schema.version } };
  } catch (error) {
    const { message } = storeFault(error, connection.address.name);
    return { findings: [...findings, { type: 'problem', message }] };
  }
}

/** What a crash of the server's machine would lose. */
function durability({ facts, address }: Connection): readonly ServerFinding[] {
  const found: ServerFinding[] = [];
  if (facts.fsync === 'off')
    found.push({
      type: 'problem',
      message: `${address.name} has fsync off: a crash of its machine loses what was acknowledged, or all of it. Turn it on.`,
    });
  if (facts.synchronousCommit !== 'on' && facts.synchronousCommit !== 'remote_apply')
    found.push({
      type: 'note',
      message: `${address.name} has synchronous_commit ${facts.synchronousCommit}; Groundcrew sets it to on for itself.`,
    });
  return found;
}

/** What a failover would lose. */
async function standbys(connection: Connection): Promise<readonly ServerFinding[]> {
  const rows = await connection.all<{ readonly name: string; readonly sync_state: string | null }>({
    text: `SELECT application_name AS name, sync_state FROM pg_stat_replication`,
  });
  const asynchronous = rows.filter(({ sync_state: state }) => state !== 'sync' && state !== 'quorum');
  if (rows.length === 0)
    return [{ type: 'note', message: 'No standby follows the primary: its disk is the only copy.' }];
  if (asynchronous.length < rows.length) return [];
  if (rows.some(({ sync_state: state }) => state === null))
    return [
      {
        type: 'warning',
        message:
          'Whether a standby is synchronous cannot be seen by this role. Grant it pg_monitor, or look at pg_stat_replication.',
      },
    ];
  const names = asynchronous.map(({ name }) => name).join(', ');
  return [
    {
      type: 'warning',
      message: `All standbys are asynchronous (${names}): a failover to one of them loses what was acknowledged in the moments before it. Name one in synchronous_standby_names.`,
    },
  ];
}

async function leftovers(connection: Connection): Promise<readonly ServerFinding[]> {
  const [row] = await connection.all<{ readonly count: number }>({
    text: 'SELECT count(*)::int AS count FROM gc_removed WHERE NOT is_erased',
  });
  const count = row?.count ?? 0;
  return count === 0
    ? []
    : [{ type: 'unfinished', message: `The deletion of ${count} session(s) is not finished.` }];
}

async function inspectSessions(connection: Connection): Promise<{
  readonly sessions: number;
  readonly records: number;
  readonly problems: readonly ServerFinding[];
}> {
  const problems: ServerFinding[] = [];
  let sessions = 0;
  let records = 0;
  let after = '';
  for (;;) {
    const page = await connection.all<{ readonly id: string }>({
      text: 'SELECT id FROM gc_session WHERE id > $1 ORDER BY id LIMIT 1000',
      values: [after],
    });
    for (const { id } of page) {
      const { count, problem } = await inspectSession(connection, id);
      records += count;
      sessions += 1;
      if (problem !== undefined) problems.push({ type: 'problem', message: problem });
      await turnOfTheLoop();
    }
    const last = page.at(-1);
    if (!last) return { sessions, records, problems };
    after = last.id;
  }
}

async function inspectSession(
  connection: Connection,
  sessionId: string,
): Promise<{ readonly count: number; readonly problem?: string }> {
  let after = 0;
  let number: number | undefined;
  try {
    for (;;) {
      const batch = await readBatch(connection, { sessionId, number, after });
      if (!batch || batch.records.length === 0) return { count: after };
      after += batch.records.length;
      number = batch.number;
    }
  } catch (error) {
    if (!(error instanceof StoreError) || error.kind !== 'damaged') throw error;
    return {
      count: after,
      problem: `Session ${sessionId} can be read up to record ${after}: ${error.message}`,
    };
  }
}
