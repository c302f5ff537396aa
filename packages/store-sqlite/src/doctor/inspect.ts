import { existsSync, statSync } from 'node:fs';
import { Connection } from '../connection.js';
import { loadDriver, type SqliteDatabase } from '../driver.js';
import { reasonOf, storeFault } from '../faults.js';
import { logDamage } from '../log-damage.js';
import { readIdentity } from '../migrate.js';
import { applicationId, migrationSteps } from '../schema.js';
import { removedSessions } from '../sessions.js';
import type { Finding, Inspection, StoreContents, StorePlace } from './finding.js';
import { inspectFiles } from './inspect-files.js';
import { inspectSessions, inspectStrays } from './inspect-sessions.js';

/** Looks at a store, also one in use, from its files to its last record; changes nothing. */
export function inspectStore(place: StorePlace): Inspection {
  if (!existsSync(place.file))
    return { findings: [{ type: 'note', message: `There is no store at ${place.file} yet.` }] };
  // To open a pipe waits for who writes to it.
  if (!statSync(place.file).isFile()) return { findings: [noFile(place.file)] };
  const ofLog = inspectLog(place.file);
  const around = inspectFiles(place);
  const { findings, ...contents } = inspectDatabase(place.file);
  // What an empty file lacks may be in a log that SQLite cannot read.
  const ofFile = ofLog.length > 0 ? findings.filter(({ type }) => type !== 'empty') : findings;
  return { ...contents, findings: [...ofFile, ...ofLog, ...around] };
}

/** Looks at what is in a database file, whether it is the store of a home or a copy of one. */
export function inspectDatabase(file: string): Inspection {
  let database: SqliteDatabase | undefined;
  try {
    database = new (loadDriver().DatabaseSync)(file, { readOnly: true });
    database.exec('PRAGMA busy_timeout = 2000');
    return inspectOpen(database, file);
  } catch (error) {
    return { findings: [describe(error, file)] };
  } finally {
    database?.close();
  }
}

function inspectOpen(database: SqliteDatabase, file: string): Inspection {
  const { owner, version, tables } = readIdentity(database);
  if (tables.length === 0 && owner === 0) return { findings: [empty(file)] };
  if (!tables.includes('session') || !tables.includes('record')) return { findings: [foreign(file)] };
  const newest = migrationSteps.length;
  if (version > newest) return { findings: [newer(file, version)] };
  const findings = [...attempt(file, () => checkIntegrity(database, file))];
  if (owner !== applicationId)
    findings.push({ type: 'damaged', message: `${file} has lost its mark as a Groundcrew store.` });
  if (version < newest) {
    const message = `${file} has version ${version} and is brought to version ${newest} when it is next opened.`;
    return { findings: [...findings, { type: 'note', message }] };
  }
  const connection = new Connection(database, file);
  let contents: StoreContents | undefined;
  findings.push(
    ...attempt(file, () => {
      const { findings: found, ...counts } = connection.view(() => inspectSessions(connection));
      contents = { version, ...counts };
      return found;
    }),
    ...attempt(file, () => connection.view(() => inspectStrays(connection))),
    ...attempt(file, () => connection.view(() => inspectRemovals(connection))),
  );
  return { findings: unique(findings), ...(contents && { contents }) };
}

/** What deletions have left to do, and whether they give space back. */
function inspectRemovals(connection: Connection): readonly Finding[] {
  const { length } = removedSessions(connection);
  const what = length === 1 ? 'one session is' : `${length} sessions is`;
  return [
    ...(length > 0
      ? [{ type: 'unfinished' as const, message: `The deletion of ${what} not at its end.` }]
      : []),
    ...(connection.givesBack
      ? []
      : [
          {
            type: 'rewritable' as const,
            message: `${connection.file} was made by an earlier version: it does not give back the space of deleted sessions.`,
          },
        ]),
  ];
}

/** A check that cannot be made is a finding too, and the others are still made. */
function attempt(file: string, check: () => readonly Finding[]): readonly Finding[] {
  try {
    return check();
  } catch (error) {
    return [describe(error, file)];
  }
}

function unique(findings: readonly Finding[]): readonly Finding[] {
  return [...new Map(findings.map((finding) => [finding.message, finding])).values()];
}

/** SQLite's own check of pages, tables and indexes. */
function checkIntegrity(database: SqliteDatabase, file: string): readonly Finding[] {
  const rows = database.prepare('PRAGMA integrity_check(10)').all() as { readonly integrity_check: string }[];
  const faults = rows.map((row) => row.integrity_check.replaceAll('\n', ' ')).filter((text) => text !== 'ok');
  return faults.map((fault) => ({ type: 'damaged', message: `${file}: ${fault}.` }));
}

function inspectLog(file: string): readonly Finding[] {
  const damage = logDamage(file);
  return damage === undefined ? [] : [{ type: 'damaged', message: `${damage}.` }];
}

function describe(error: unknown, file: string): Finding {
  const { kind } = storeFault(error, file);
  const reason = reasonOf(error);
  if (kind === 'damaged') return { type: 'damaged', message: `${file} cannot be read: ${reason}.` };
  return { type: 'unreachable', message: `${file} cannot be opened: ${reason}.` };
}

function noFile(file: string): Finding {
  const message = `${file} is no file, so no session can be kept in it. Move it away, or name another home.`;
  return { type: 'unreachable', message };
}

function empty(file: string): Finding {
  const message = `${file} is empty: it holds no session. If there were any, put a backup in its place; otherwise the next start makes a new store of it.`;
  return { type: 'empty', message };
}

function foreign(file: string): Finding {
  return { type: 'foreign', message: `${file} is a database, but not a Groundcrew session store.` };
}

function newer(file: string, version: number): Finding {
  const message = `${file} has version ${version}; this Groundcrew knows versions up to ${migrationSteps.length}. Update Groundcrew.`;
  return { type: 'newer', message };
}
