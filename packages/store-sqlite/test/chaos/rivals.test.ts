import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { bundleChild, type Chaos, type ChildLine, makeChaos } from './children.js';
import { recordAt } from './task.js';

const head = {
  createdAt: '2025-01-01T00:00:00.000Z',
  modifiedAt: '2025-01-01T00:00:00.000Z',
  hasWork: false,
  userTurns: 0,
  eventCount: 0,
  snapshotSeq: 0,
  context: { cwd: '/work' },
};
const owner = { runtimeId: 'runtime-test', pid: process.pid, host: 'here' };

let program: string;
let chaos: Chaos;
beforeAll(async () => {
  program = await bundleChild({ failpoints: true });
});
afterAll(() => rmSync(dirname(program), { recursive: true }));
beforeEach(() => {
  chaos = makeChaos(program);
});
afterEach(() => chaos.close());

test('ten processes that append to one store at once lose nothing', async () => {
  const ids = Array.from({ length: 10 }, (_, index) => `s${index}`);
  const children = ids.map((sessionId) =>
    chaos.start({ mode: 'group', sessionId, task: 'write', count: 40 }),
  );
  const lastLines = await Promise.all(
    children.map(async ({ lines }) => {
      let last: ChildLine = {};
      for await (const line of lines) last = line;
      return last;
    }),
  );
  expect(lastLines).toEqual(
    ids.map(() => ({ longestDelay: expect.any(Number), busyRetries: expect.any(Number) })),
  );
  const expected = Array.from({ length: 40 }, (_, index) => recordAt(index + 1));
  for (const id of ids) expect(await chaos.read(id)).toEqual(expected);
});

test('an owner that was stopped while another claimed its session is refused when it goes on', async () => {
  const child = chaos.start({ mode: 'group', sessionId: 's', task: 'order' });
  await child.next();
  child.process.stdin?.write('2\n');
  expect(await child.next()).toEqual({ acknowledged: 2 });
  child.process.kill('SIGSTOP');
  const store = chaos.open();
  const claim = await store.claim({ sessionId: 's', owner });
  child.process.stdin?.write('1\n');
  child.process.kill('SIGCONT');
  expect(await child.next()).toEqual({ refused: 'stale_owner' });
  expect(claim.seq).toBe(2);
  expect(await chaos.read('s')).toEqual([recordAt(1), recordAt(2)]);
  child.process.stdin?.end();
  await once(child.process, 'exit');
  await store.close();
});

test('a process stopped in its transaction is named to those who wait for it, and takes nothing with it', async () => {
  const child = chaos.start({ mode: 'group', sessionId: 'theirs', task: 'order' });
  await child.next();
  child.process.stdin?.write('1 written stop\n');
  await expect.poll(() => isStopped(child.process.pid)).toBe(true);
  const store = chaos.open({ busyLimit: 100 });
  const claim = () => store.claim({ sessionId: 'ours', owner, create: { records: [], head } });
  await expect(claim()).rejects.toMatchObject({
    kind: 'busy',
    message: `The session store ${chaos.file} was locked by ${holder(child.process.pid)} for 0.1 s; nothing was written. Try again.`,
  });
  expect((await store.list({ includeEmpty: true })).items.map(({ sessionId }) => sessionId)).toEqual([
    'theirs',
  ]);
  child.process.kill('SIGCONT');
  expect(await child.next()).toEqual({ acknowledged: 1 });
  expect(await claim()).toMatchObject({ seq: 0, isNew: true });
  child.process.stdin?.end();
  await once(child.process, 'exit');
  await store.close();
});

test('a live process shows as owner until it is killed', async () => {
  const child = chaos.start({ mode: 'group', sessionId: 's', task: 'order' });
  await child.next();
  const store = chaos.open();
  const owners = async () => (await store.list()).items.map((summary) => summary.owner?.pid);
  expect(await owners()).toEqual([child.process.pid]);
  child.process.kill('SIGKILL');
  await once(child.process, 'exit');
  expect(await owners()).toEqual([undefined]);
  await store.close();
});

/** Linux names the holder of a lock; elsewhere the error names the owners of sessions, which may hold it. */
function holder(pid: number | undefined): string {
  return process.platform === 'linux'
    ? `process ${pid} on ${hostname()}`
    : `another process (process ${pid} on here)`;
}

function isStopped(pid: number | undefined): boolean {
  return execFileSync('ps', ['-o', 'stat=', '-p', `${pid}`], { encoding: 'utf8' }).startsWith('T');
}
