import { writeSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { type SessionHead, StoreError } from '@groundcrew/store';
import type { FailpointName } from '../../src/failpoints.js';
import { openSqliteStore, type SqliteStore } from '../../src/store.js';
import { type ChildTask, recordAt } from './task.js';

const head: SessionHead = {
  createdAt: '2025-01-01T00:00:00.000Z',
  modifiedAt: '2025-01-01T00:00:00.000Z',
  hasWork: false,
  userTurns: 1,
  eventCount: 0,
  snapshotSeq: 0,
  context: { cwd: '/work' },
};

interface Work {
  readonly store: SqliteStore;
  readonly task: ChildTask;
  /** The step at which the disk fails, or the process stops, while set. */
  readonly fault: { step?: FailpointName | undefined; isStop?: boolean };
}

const tasks: Record<ChildTask['task'], (work: Work) => Promise<void>> = {
  flood: ({ store, task }) => appendMany(store, { ...task, count: Number.POSITIVE_INFINITY }),
  write: async ({ store, task }) => {
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    await appendMany(store, task);
    await store.close();
    say({ longestDelay: Math.round(delay.max / 1e6), busyRetries: store.stats().busyRetries });
  },
  order: appendOnOrder,
};

void run(JSON.parse(process.argv[2] ?? '') as ChildTask);

async function run(task: ChildTask): Promise<void> {
  const fault: Work['fault'] = {};
  let steps = 0;
  const failpoint = (step: FailpointName) => {
    steps += 1;
    if (steps === task.killAt) process.kill(process.pid, 'SIGKILL');
    if (step !== fault.step) return;
    if (fault.isStop) process.kill(process.pid, 'SIGSTOP');
    else throw Object.assign(new Error('disk I/O error'), { errcode: 10 });
  };
  await tasks[task.task]({ store: openSqliteStore({ ...task, failpoint }), task, fault });
}

async function appendMany(store: SqliteStore, { sessionId, count = 0 }: ChildTask): Promise<void> {
  const { epoch } = await claim(store, sessionId);
  for (let seq = 0; seq < count; seq += 1) {
    await store.append({ sessionId, epoch, expectedSeq: seq, records: [recordAt(seq + 1)], head });
    say({ acknowledged: seq + 1 });
  }
}

/** Each line on stdin is a number of records to append in one group, and maybe a step at which the disk fails or, with `stop`, the process stops. */
async function appendOnOrder({ store, task: { sessionId }, fault }: Work): Promise<void> {
  const { epoch } = await claim(store, sessionId);
  let expectedSeq = 0;
  say({ acknowledged: 0 });
  for await (const line of createInterface({ input: process.stdin })) {
    const [count, step, stop] = line.split(' ');
    const records = Array.from({ length: Number(count) }, (_, index) => recordAt(expectedSeq + 1 + index));
    fault.step = step as FailpointName | undefined;
    fault.isStop = stop === 'stop';
    try {
      await store.append({ sessionId, epoch, expectedSeq, records, head });
      expectedSeq += records.length;
      say({ acknowledged: expectedSeq });
    } catch (error) {
      say({ refused: error instanceof StoreError ? error.kind : String(error) });
    }
  }
}

function claim(store: SqliteStore, sessionId: string) {
  const owner = { runtimeId: `runtime-${process.pid}`, pid: process.pid, host: 'here' };
  return store.claim({ sessionId, owner, create: { records: [], head } });
}

/** Synchronous: what is said is out before anything else happens. */
function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
