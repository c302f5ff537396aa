import { cpSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSqliteStore } from '../../src/store.js';
import { bundleChild, type Chaos, makeChaos } from './children.js';
import { recordAt } from './task.js';

const frameBytes = 24 + 4096;

let chaos: Chaos;
let program: string;
let earlierBytes: number;
let allBytes: number;

beforeAll(async () => {
  program = await bundleChild({ failpoints: false });
  chaos = makeChaos(program);
  const child = chaos.start({ mode: 'group', sessionId: 's', task: 'order' });
  await child.next();
  child.process.stdin?.write('5\n');
  await child.next();
  earlierBytes = endOfLog(chaos.file);
  child.process.stdin?.write('20\n');
  await child.next();
  allBytes = endOfLog(chaos.file);
  child.process.kill('SIGKILL');
  for await (const _ of child.lines);
});
afterAll(() => {
  chaos.close();
  rmSync(dirname(program), { recursive: true });
});

const earlier = Array.from({ length: 5 }, (_, index) => recordAt(index + 1));
const all = Array.from({ length: 25 }, (_, index) => recordAt(index + 1));

test('a store whose process was killed holds everything acknowledged', async () => {
  expect(await readDamaged('whole', () => undefined)).toEqual(all);
});

test('a log cut anywhere in its last transaction loses that transaction only', async () => {
  const offsets = Array.from({ length: 40 }, (_, index) =>
    Math.floor(earlierBytes + ((allBytes - earlierBytes - 1) * index) / 39),
  );
  const outcomes = [];
  for (const offset of offsets) {
    outcomes.push((await readDamaged(`cut-${offset}`, (log) => truncateSync(log, offset))).length);
  }
  expect(outcomes).toEqual(offsets.map(() => earlier.length));
});

test('a log whose last 4 KiB are zeros loses its last transaction only', async () => {
  const records = await readDamaged('zeros', (log) => {
    writeFileSync(log, readFileSync(log).fill(0, allBytes - 4096));
  });
  expect(records).toEqual(earlier);
});

test('a flipped bit in the last transaction loses that transaction only', async () => {
  const frames = (allBytes - earlierBytes) / frameBytes;
  const offsets = Array.from(
    { length: frames },
    (_, index) => earlierBytes + index * frameBytes + 100 * index + 24,
  );
  const outcomes = [];
  for (const offset of offsets) {
    const records = await readDamaged(`flip-${offset}`, (log) => {
      const bytes = readFileSync(log);
      bytes.writeUInt8(bytes.readUInt8(offset) ^ 0x10, offset);
      writeFileSync(log, bytes);
    });
    outcomes.push(records.length);
  }
  expect(frames).toBeGreaterThan(1);
  expect(outcomes).toEqual(offsets.map(() => earlier.length));
});

/** Where the written frames end; zeros follow, for the log is made long in advance. */
function endOfLog(file: string): number {
  const log = readFileSync(`${file}-wal`);
  let end = 32;
  while (end + frameBytes <= log.length && log.readUInt32BE(end) !== 0) end += frameBytes;
  return end;
}

/** Copies the dead store, damages the copy's log and reads what is left. */
async function readDamaged(name: string, damage: (log: string) => void): Promise<readonly LogRecord[]> {
  const copy = join(chaos.home, name);
  mkdirSync(copy);
  const file = join(copy, 'sessions.db');
  cpSync(chaos.file, file);
  cpSync(`${chaos.file}-wal`, `${file}-wal`);
  damage(`${file}-wal`);
  const store = openSqliteStore({ file, runDirectory: join(copy, 'run') });
  const records: LogRecord[] = [];
  for await (const batch of store.read('s')) records.push(...batch);
  await store.close();
  return records;
}
