import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { openDatabase } from '@groundcrew/store-sqlite';
import { type Place, withRuntime } from './home.js';
import { makeLongSession, timeToFirstAnswer } from './long-session.js';
import { branchOf, codeWord } from './many-sessions.js';

/** What it costs to go on with a session. */
export interface ResumeCost {
  /** Of the session's records. */
  readonly megabytes: number;
  readonly milliseconds: number;
  /** Resident memory: of the idle runtime, and the most until the answer. */
  readonly idle: number;
  readonly peak: number;
}

const rounds = 3;

/** Makes a session of about this size, and goes on with it in a new process: the best of a few times. */
export async function resumeCost(
  { home, model }: Place,
  { megabytes, say = () => undefined }: { readonly megabytes: number; say?(text: string): void },
): Promise<ResumeCost> {
  const sessionId = await withRuntime(home, ({ client }) =>
    makeLongSession(client, model, megabytes, (share) =>
      say(`a session of ${megabytes} MB: ${Math.round(share * 100)} %`),
    ),
  );
  const costs: ResumeCost[] = [];
  for (let round = 0; round < rounds; round++)
    costs.push(
      await withRuntime(home, async ({ client, pid }) => {
        const idle = memoryOf(pid, 'VmRSS');
        const milliseconds = await timeToFirstAnswer(client, model, sessionId);
        const { sizes } = await client.call('sessions.getSizes', {});
        const size = (sizes[sessionId] ?? 0) / 1_000_000;
        return { megabytes: size, milliseconds, idle, peak: memoryOf(pid, 'VmHWM') };
      }),
    );
  const [best] = costs.toSorted((one, other) => one.milliseconds - other.milliseconds);
  if (!best) throw new Error('Nothing was measured');
  return { ...best, peak: Math.min(...costs.map(({ peak }) => peak)) };
}

/** Milliseconds of a call, the best of a few, and the longest that another client waited for an answer meanwhile. */
export interface Timed {
  readonly milliseconds: number;
  readonly longestWait: number;
  readonly found: number;
}

/** Times `call` while another connection pings without a pause. */
async function timed(
  port: number,
  call: () => Promise<number>,
  { times = 5 }: { readonly times?: number } = {},
): Promise<Timed> {
  await using beside = new Client({ connection: RuntimeConnection.forUri(`127.0.0.1:${port}`) });
  await beside.start();
  let isOver = false;
  let longestWait = 0;
  const pinging = (async () => {
    while (!isOver) {
      const began = performance.now();
      await beside.ping();
      longestWait = Math.max(longestWait, performance.now() - began);
    }
  })();
  let best = Number.POSITIVE_INFINITY;
  let found = 0;
  for (let time = 0; time < times; time++) {
    const began = performance.now();
    found = await call();
    best = Math.min(best, performance.now() - began);
  }
  isOver = true;
  await pinging;
  return { milliseconds: best, longestWait, found };
}

/** How long lists of many sessions take: all of them, and by filters. */
export async function listCosts(home: string): Promise<Readonly<Record<string, Timed>>> {
  return withRuntime(home, async ({ client, port }) => {
    const list = (filter?: Parameters<Client['listSessions']>[0]) =>
      timed(port, async () => (await client.listSessions(filter)).length);
    return {
      'the sessions of a branch': await list({ branch: branchOf(7) }),
      'the sessions of a repository': await list({ repository: 'team/repo-3' }),
      'all sessions': await list(),
    };
  });
}

/** How long searches over many sessions take: the first one, a rare word, a common one, two words. */
export async function searchCosts(home: string): Promise<Readonly<Record<string, Timed>>> {
  return withRuntime(home, async ({ client, port }) => {
    const search = (query: string, times = 5) =>
      timed(port, async () => (await client.call('sessions.search', { query })).sessions.length, { times });
    return {
      'the first search, which reads all': await search(codeWord(17), 1),
      'a rare word': await search(codeWord(42)),
      'a common word': await search('neighbours'),
      'two words': await search(`harbour ${codeWord(8)}`),
    };
  });
}

/** What is left of sessions that were made, talked to and deleted. */
export interface Churn {
  /** Bytes of the home when some sessions had come and gone, and at the end. */
  readonly before: number;
  readonly after: number;
  /** Rows of the store that are not empty, by table. */
  readonly rows: Readonly<Record<string, number>>;
  /** What lies where sessions keep their files. */
  readonly names: readonly string[];
}

/** Makes sessions, talks to them, has them searched for, and deletes them. */
export async function churn(
  { home, model }: Place,
  { cycles, first = 100, say = () => undefined }: ChurnOptions,
): Promise<Churn> {
  const sizes = await withRuntime(home, async ({ client }) => {
    const cycle = async (number: number) => {
      const session = await client.createSession({
        ...model.settings,
        onPermissionRequest: () => ({ kind: 'reject' }),
      });
      await session.sendAndWait(`Say something about ${codeWord(number)}.`);
      await session.call('session.plan.update', { content: `1. ${codeWord(number)}` });
      if (number % 50 === 0) await client.call('sessions.search', { query: codeWord(number) });
      await client.deleteSession(session.sessionId);
    };
    const some = (start: number) =>
      Promise.all(Array.from({ length: atOnce }, (_, index) => cycle(start + index)));
    for (let number = 0; number < first; number += atOnce) await some(number);
    const before = bytesBelow(home);
    for (let number = first; number < first + cycles; number += atOnce) {
      await some(number);
      say(`${number} of ${cycles} sessions made and deleted`);
    }
    return { before, after: bytesBelow(home) };
  });
  return {
    ...sizes,
    rows: rowsOf(join(home, 'groundcrew.db')),
    names: readdirSync(join(home, 'session-state')),
  };
}

interface ChurnOptions {
  readonly cycles: number;
  /** So many come and go before anything is counted. */
  readonly first?: number;
  say?(text: string): void;
}

const atOnce = 20;

/** The store's own tables, less those that SQLite keeps for its index of words. */
function rowsOf(file: string): Readonly<Record<string, number>> {
  const database = openDatabase(file, { readOnly: true });
  const tables = ['session', 'record', 'blob', 'passage', 'searched', 'removed_session'];
  const counted = tables.map((table) => {
    const row = database.prepare(`SELECT count(*) AS rows FROM ${table}`).get();
    return [table, (row as { readonly rows: number }).rows] as const;
  });
  database.close();
  return Object.fromEntries(counted.filter(([, rows]) => rows > 0));
}

function bytesBelow(directory: string): number {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => {
      const stats = statSync(join(entry.parentPath, entry.name), { throwIfNoEntry: false });
      return sum + (stats?.size ?? 0);
    }, 0);
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  const status = readFileSync(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024;
}
