import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../src/store.js';
import type { WriterTask } from './children/writer.js';
import { headWith, ownerNamed, readAll, recordAt } from './data.js';
import { serverForTests } from './world.js';

const server = await serverForTests();
let program = '';
beforeAll(async () => {
  if (server) program = await bundleWriter();
});
afterAll(async () => {
  if (program !== '') rmSync(dirname(program), { recursive: true });
  await server?.close();
});

const long = { validity: 60_000, renewal: 15_000 };
const short = { validity: 600, renewal: 150 };

interface Line {
  readonly acknowledged?: number;
  readonly refused?: string;
}

describe.skipIf(!server)('processes on one database', () => {
  if (!server) return;

  test('a process killed at any write step leaves every acknowledged record, and its session can go on at once', async () => {
    const outcomes: string[] = [];
    const waiting = Array.from({ length: 12 }, (_, index) => index + 1);
    const lane = async () => {
      for (let step = waiting.shift(); step; step = waiting.shift())
        outcomes[step - 1] = await killedAt(step);
    };
    await Promise.all(Array.from({ length: 3 }, lane));
    expect(outcomes).toEqual(Array.from({ length: 12 }, (_, index) => `${index + 1} SIGKILL true`));
  }, 60_000);

  test('a node that is stopped longer than its lease loses its session, and is refused when it goes on', async () => {
    const url = await server.newSchema();
    const child = start({ url, lease: short });
    await child.next();
    child.process.stdin?.write('\n');
    expect(await child.next()).toEqual({ acknowledged: 1 });
    const store = openPostgresStore({ url, lease: short });
    const take = () => store.claim({ sessionId: 's', owner: ownerNamed('other') });
    await expect(take()).rejects.toMatchObject({ kind: 'in_use' });
    child.process.kill('SIGSTOP');
    // Refused until the lease is over, by the clock of the database.
    await expect.poll(() => take().catch(({ kind }) => kind), { timeout: 5_000 }).toMatchObject({ seq: 1 });
    child.process.stdin?.write('\n');
    child.process.kill('SIGCONT');
    expect(await child.next()).toEqual({ refused: 'stale_owner' });
    expect(await readAll(store, 's')).toEqual([recordAt(1)]);
    child.process.stdin?.end();
    await once(child.process, 'exit');
    await store.close();
  });

  test('a lease that is renewed keeps a session with work for longer than it is valid', async () => {
    const url = await server.newSchema();
    const child = start({ url, lease: short });
    await child.next();
    const store = openPostgresStore({ url, lease: short });
    const began = performance.now();
    const refusals = new Set<string>();
    while (performance.now() - began < 2 * short.validity)
      await store.claim({ sessionId: 's', owner: ownerNamed('other') }).then(
        () => refusals.add('taken'),
        ({ kind }) => refusals.add(kind),
      );
    expect([...refusals]).toEqual(['in_use']);
    child.process.kill('SIGKILL');
    await once(child.process, 'exit');
    expect((await store.list({ includeEmpty: true })).items.map(({ owner }) => owner)).toEqual([undefined]);
    await store.close();
  });

  test('a killed server that comes back has all that was acknowledged, and a node takes nothing from others at once', async () => {
    if (process.env.PG_URL) return;
    const url = await server.newSchema();
    const [ada, bob] = [openPostgresStore({ url }), openPostgresStore({ url })];
    const head = headWith({ hasWork: true });
    const create = { records: [], head };
    const { epoch } = await ada.claim({ sessionId: 's', owner: ownerNamed('ada'), create });
    await bob.list();
    let seq = 0;
    const append = async () => {
      await ada.append({ sessionId: 's', epoch, expectedSeq: seq, records: [recordAt(seq + 1)], head });
      seq += 1;
    };
    while (seq < 50) await append();
    const flood = (async () => {
      while (seq < 300) await append();
    })();
    await server.kill();
    await server.start();
    await flood;
    // The server was away: leases that ended meanwhile are no sign of death yet.
    await server.query(`UPDATE ${schemaOf(url)}.gc_node SET lease_until = now() - interval '1 minute'`);
    await expect(bob.claim({ sessionId: 's', owner: ownerNamed('bob') })).rejects.toMatchObject({
      kind: 'in_use',
    });
    expect(await readAll(ada, 's')).toEqual(Array.from({ length: 300 }, (_, index) => recordAt(index + 1)));
    await Promise.all([ada.close(), bob.close()]);
  }, 30_000);
});

/** What is left after a kill at a write step, in words. */
async function killedAt(killAt: number): Promise<string> {
  const url = (await server?.newSchema()) ?? '';
  const child = start({ url, lease: long, killAt, floods: true });
  let acknowledged = 0;
  for await (const line of child.lines) acknowledged = line.acknowledged ?? acknowledged;
  const store = openPostgresStore({ url });
  const owner = { ...ownerNamed('next'), pid: process.pid };
  const head = headWith();
  const { epoch, seq } = await store.claim({ sessionId: 's', owner, create: { records: [], head } });
  await store.append({ sessionId: 's', epoch, expectedSeq: seq, records: [recordAt(seq + 1)], head });
  const records = await readAll(store, 's');
  await store.close();
  const isWhole = records.every((record, index) => record.json === recordAt(index + 1).json);
  const isRight = records.length === seq + 1 && (seq === acknowledged || seq === acknowledged + 1);
  return `${killAt} ${child.process.signalCode} ${isWhole && isRight}`;
}

function schemaOf(url: string): string {
  return new URL(url).searchParams.get('options')?.replace('-c search_path=', '') ?? '';
}

interface Child {
  readonly process: ChildProcess;
  readonly lines: AsyncIterableIterator<Line>;
  next(): Promise<Line>;
}

function start(task: WriterTask): Child {
  const child = spawn(process.execPath, [program, JSON.stringify(task)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = parseLines(child);
  const next = async () => {
    const { value, done } = await lines.next();
    if (done) throw new Error('The child process ended early');
    return value;
  };
  return { process: child, lines, next };
}

async function* parseLines(child: ChildProcess): AsyncIterableIterator<Line> {
  if (!child.stdout) return;
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Line;
  await ended;
}

/** Bundles the child as the shipped program is bundled, so that the way the library is loaded is examined too. */
async function bundleWriter(): Promise<string> {
  const outfile = join(mkdtempSync(join(tmpdir(), 'groundcrew-writer-')), 'writer.cjs');
  await build({
    entryPoints: [fileURLToPath(new URL('./children/writer.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'cjs',
    external: ['pg-native'],
    supported: { 'dynamic-import': false },
    define: { __FAILPOINTS__: 'true' },
  });
  return outfile;
}
