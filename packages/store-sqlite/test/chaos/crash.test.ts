import { rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { SqliteMode } from '../../src/store-file.js';
import { bundleChild, type Chaos, makeChaos } from './children.js';
import { recordAt } from './task.js';

let program: string;
beforeAll(async () => {
  program = await bundleChild({ failpoints: true });
});
afterAll(() => rmSync(dirname(program), { recursive: true }));

test.each<SqliteMode>(['strict', 'group'])(
  'a process killed under load in %s mode loses no acknowledged record',
  async (mode) => {
    const chaos = makeChaos(program);
    const acknowledged = await killUnderLoad(chaos, mode);
    const records = await chaos.read('s');
    expect(acknowledged).toBeGreaterThanOrEqual(200);
    expect(records.length).toBeGreaterThanOrEqual(acknowledged);
    expect(records).toEqual(records.map((_, index) => recordAt(index + 1)));
    chaos.close();
  },
);

test('a process killed at any write step leaves a store that opens with every acknowledged record', async () => {
  const outcomes: boolean[] = [];
  const steps = Array.from({ length: 13 }, (_, index) => index + 1);
  await Promise.all(
    steps.map(async (killAt) => {
      const chaos = makeChaos(program);
      const child = chaos.start({ mode: 'group', sessionId: 's', task: 'flood', killAt });
      let acknowledged = 0;
      for await (const line of child.lines) acknowledged = line.acknowledged ?? acknowledged;
      const { length } = await chaos.read('s');
      outcomes.push(
        child.process.signalCode === 'SIGKILL' && (length === acknowledged || length === acknowledged + 1),
      );
      chaos.close();
    }),
  );
  expect(outcomes).toEqual(steps.map(() => true));
});

test.each(['begin', 'written', 'commit'])(
  'a disk that fails at the step `%s` fails the append, writes nothing and leaves the store usable',
  async (step) => {
    const chaos = makeChaos(program);
    const child = chaos.start({ mode: 'group', sessionId: 's', task: 'order' });
    const outcomes = [await child.next()];
    for (const order of ['2', `3 ${step}`, '1']) {
      child.process.stdin?.write(`${order}\n`);
      outcomes.push(await child.next());
    }
    child.process.stdin?.end();
    for await (const line of child.lines) outcomes.push(line);
    expect(outcomes).toEqual([
      { acknowledged: 0 },
      { acknowledged: 2 },
      { refused: 'io' },
      { acknowledged: 3 },
    ]);
    expect(await chaos.read('s')).toEqual([recordAt(1), recordAt(2), recordAt(3)]);
    chaos.close();
  },
);

test('a bundle without failpoints has no trace of them', async () => {
  const bare = await bundleChild({ failpoints: false });
  const traces = (text: string) => text.match(/failpoint\?\.\(/g)?.length ?? 0;
  expect([traces(await readFile(program, 'utf8')), traces(await readFile(bare, 'utf8'))]).toEqual([1, 0]);
  rmSync(dirname(bare), { recursive: true });
});

async function killUnderLoad(chaos: Chaos, mode: SqliteMode): Promise<number> {
  const child = chaos.start({ mode, sessionId: 's', task: 'flood' });
  let acknowledged = 0;
  for await (const line of child.lines) {
    acknowledged = line.acknowledged ?? acknowledged;
    if (acknowledged === 200) child.process.kill('SIGKILL');
  }
  return acknowledged;
}
