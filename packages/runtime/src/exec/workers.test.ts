import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { workerEntry } from '@groundcrew/testkit';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { childrenOf, processesWith } from '../../test/processes.js';
import { JobStopped, Workers, type WorkersOptions } from './workers.js';

let directory: string;
const opened: Workers[] = [];

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'groundcrew-workers-'));
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((workers) => workers.close()));
  rmSync(directory, { recursive: true, force: true });
});

function open(options?: Omit<WorkersOptions, 'entry'>): Workers {
  const workers = new Workers({ entry: workerEntry(), ...options });
  opened.push(workers);
  return workers;
}

const sql = (query: string) => ({ file: join(directory, 'session.db'), query });
const seconds = (count: number) => ({ milliseconds: count * 1000 });

/** Ten rows joined with themselves often enough to last for days. */
const endless = `CREATE TABLE IF NOT EXISTS n (v); INSERT INTO n VALUES (1),(2),(3),(4),(5),(6),(7),(8),(9),(10);
  SELECT count(*) FROM n a, n b, n c, n d, n e, n f, n g, n h, n i, n j, n k, n l, n m`;

/** Worker processes of this one. */
function children(): readonly number[] {
  const workers = processesWith('dist/worker.cjs');
  return childrenOf(process.pid).filter((pid) => workers.includes(pid));
}

test('a statement that would last for days is stopped at its time, its process is gone, and the next job runs', async () => {
  const workers = open();
  await workers.run('sql', sql('SELECT 1'), seconds(20));
  const stopped = await workers.run('sql', sql(endless), seconds(0.3)).catch((error: unknown) => error);
  expect(stopped).toEqual(new JobStopped('time', 'it took longer than 0.3 s and was stopped'));
  expect(children()).toEqual([]);
  expect(await workers.run('sql', sql('SELECT count(*) AS c FROM n'), seconds(20))).toEqual({
    text: '1 row(s) returned:\n\n| c |\n| --- |\n| 10 |',
    todoChanges: 0,
    isFailure: false,
  });
});

test('a job that is aborted ends at once', async () => {
  const workers = open();
  const call = new AbortController();
  await workers.run('sql', sql('SELECT 1'), seconds(20));
  const running = workers.run('sql', sql(endless), seconds(60), call.signal);
  setImmediate(() => call.abort(new Error('given up')));
  await expect(running).rejects.toThrow('given up');
  expect(children()).toEqual([]);
});

test('a job that takes too much memory is stopped', async () => {
  const greedy = 'SELECT length(randomblob(900000000))';
  await expect(open().run('sql', sql(greedy), seconds(20))).rejects.toMatchObject({
    name: 'JobStopped',
    reason: 'memory',
    message: 'it took more than 384 MB of memory and was stopped',
  });
});

test('a worker is used again, and ends when nothing has been asked of it for a while', async () => {
  const workers = open({ idleMilliseconds: 300 });
  await workers.run('sql', sql('SELECT 1'), seconds(20));
  const [first] = children();
  await workers.run('sql', sql('SELECT 1'), seconds(20));
  expect(children()).toEqual([first]);
  await vi.waitFor(() => expect(children()).toEqual([]), { timeout: 5000 });
});

test('one kind of job never takes the last worker, and what waits has its turn', async () => {
  const workers = open({ most: 2 });
  const call = new AbortController();
  const long = workers.run('sql', sql(endless), seconds(60), call.signal).catch(() => 'stopped');
  const waiting = workers.run('sql', { ...sql('SELECT 1'), file: join(directory, 'other.db') }, seconds(20));
  expect(await workers.run('markdown', { html: '<b>x</b>' }, seconds(20))).toBe('**x**');
  call.abort();
  expect(await long).toBe('stopped');
  expect((await waiting).text).toContain('| 1 |');
});

test('what a page or a pattern does to its worker is an error, and an unknown file too', async () => {
  const workers = open();
  await expect(workers.run('markdown', { html: '<div>'.repeat(50_000) }, seconds(2))).rejects.toThrow();
  await expect(
    workers.run('sql', { file: join(directory, 'no', 'x.db'), query: 'SELECT 1' }, seconds(20)),
  ).resolves.toMatchObject({ isFailure: true });
});

test('a worker in the middle of a statement does not outlive a runtime that is killed', async () => {
  const program = fileURLToPath(new URL('../../test/children/worker-user.ts', import.meta.url));
  const parameters = ['--import', 'tsx', program, workerEntry(), join(directory, 'session.db'), endless];
  const child = spawn(process.execPath, parameters, { stdio: ['ignore', 'pipe', 'inherit'] });
  await once(child.stdout, 'data');
  const [worker] = childrenOf(child.pid ?? 0).filter((pid) => processesWith('dist/worker.cjs').includes(pid));
  expect(worker).toBeGreaterThan(0);
  child.kill('SIGKILL');
  await once(child, 'close');
  await vi.waitFor(() => expect(processesWith('dist/worker.cjs')).not.toContain(worker), { timeout: 5000 });
});
