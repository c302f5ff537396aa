import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { StoreError } from '@groundcrew/store';
import { openPostgresStore } from '../../src/store.js';
import { headWith, recordAt } from '../data.js';

/** What a process is asked to do, as one JSON argument. */
export interface WriterTask {
  readonly url: string;
  readonly lease: { readonly validity: number; readonly renewal: number };
  /** Kills the process at the n-th write step of the store. */
  readonly killAt?: number;
  /** Appends until it is killed; one record for each line of stdin without. */
  readonly floods?: boolean;
}

void run(JSON.parse(process.argv[2] ?? '') as WriterTask);

async function run({ url, lease, killAt, floods }: WriterTask): Promise<void> {
  let steps = 0;
  const failpoint = () => {
    steps += 1;
    if (steps === killAt) process.kill(process.pid, 'SIGKILL');
  };
  const store = openPostgresStore({ url, lease, failpoint });
  const owner = { runtimeId: `runtime-${process.pid}`, pid: process.pid, host: 'here' };
  const head = headWith({ hasWork: true });
  const { epoch } = await store.claim({ sessionId: 's', owner, create: { records: [], head } });
  let seq = 0;
  const append = async () => {
    try {
      await store.append({ sessionId: 's', epoch, expectedSeq: seq, records: [recordAt(seq + 1)], head });
      seq += 1;
      say({ acknowledged: seq });
    } catch (error) {
      say({ refused: error instanceof StoreError ? error.kind : String(error) });
    }
  };
  say({ acknowledged: 0 });
  while (floods) await append();
  for await (const _ of createInterface({ input: process.stdin })) await append();
  process.exit();
}

/** Synchronous: what is said is out before anything else happens. */
function say(line: object): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}
