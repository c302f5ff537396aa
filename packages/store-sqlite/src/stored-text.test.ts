import type { LogRecord } from '@groundcrew/store';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { headFor, makeTrialHome, owner, repair, type TrialHome } from '../test/trial-home.js';
import { isProblem } from './doctor/finding.js';
import { inspectStore } from './doctor/inspect.js';
import { recoverStore } from './doctor/recover.js';
import type { SqliteStore } from './store.js';

let home: TrialHome;
beforeEach(() => {
  home = makeTrialHome();
});
afterEach(() => home.close());

const type = 'tool.execution_complete';
const resultOf = (seq: number, result: object): LogRecord => ({
  seq,
  isPublic: true,
  type,
  json: JSON.stringify({ type, data: { toolCallId: `c${seq}`, success: true, result, toolTelemetry: {} } }),
});

test('a result that an event says twice takes room once, inline and out of line, and is read as it was written', async () => {
  const store = home.open();
  const texts = ['short', 'word "quoted" \\ \n '.repeat(500), '✓ 大 '.repeat(30_000)];
  const records = texts.map((content, index) =>
    resultOf(index + 1, { content, detailedContent: content, contents: [{ type: 'text', text: 'x' }] }),
  );
  await make(store, 'twice', records);
  expect(await read(store, 'twice')).toEqual(records);
  const said = records.reduce((sum, { json }) => sum + Buffer.byteLength(json), 0);
  expect(await store.size('twice')).toBeLessThan(said * 0.51);
  await store.close();
});

test('whatever a record says, it is read as it was written', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 2000 }),
    fc.string({ maxLength: 3 }).map((unit) => unit.repeat(700)),
    fc.constant('","detailedContent":"'.repeat(40)),
    fc.constant('"content":"'.repeat(80)),
  );
  const json = fc.oneof(
    fc
      .record({ content: text, detailedContent: fc.option(text), same: fc.boolean(), more: fc.jsonValue() })
      .map(({ content, detailedContent, same, more }) =>
        JSON.stringify({
          data: { more, result: { content, detailedContent: same ? content : detailedContent, more } },
        }),
      ),
    fc.constantFrom('=1,2,3;x', '=', '={}', '=0,0,9999999999;"content":"', 'null'),
    text,
  );
  await fc.assert(
    fc.asyncProperty(fc.array(json, { minLength: 1, maxLength: 6 }), async (bodies) => {
      home.close();
      home = makeTrialHome();
      const store = home.open();
      const records = bodies.map((body, index) => ({ seq: index + 1, isPublic: true, type, json: body }));
      await make(store, 'any', records);
      expect(await read(store, 'any')).toEqual(records);
      await store.close();
    }),
    { numRuns: 60, seed: 50 },
  );
});

test('a store with such bodies is recovered whole, and shares them with forks', async () => {
  const store = home.open();
  const content = 'the same thing again. '.repeat(200);
  const records = [1, 2, 3].map((seq) =>
    resultOf(seq, { content: `${seq} ${content}`, detailedContent: `${seq} ${content}` }),
  );
  await make(store, 'source', records);
  const shared = records.map((record) => ({ ...record, sameAs: { sessionId: 'source', seq: record.seq } }));
  await make(store, 'fork', shared);
  expect(await store.size('fork')).toBe(0);
  await store.close();
  recoverStore({ ...home, repair });
  expect(Object.fromEntries(await home.read())).toEqual({ source: records, fork: records });
  expect(inspectStore(home).findings.filter(isProblem)).toEqual([]);
});

test('a folded body that was damaged is damage, not another text', async () => {
  const store = home.open();
  const content = 'as it was. '.repeat(200);
  await make(store, 'hurt', [resultOf(1, { content, detailedContent: content })]);
  await store.close();
  home.execute("UPDATE record SET json = replace(json, '=', '=1')");
  const messages = inspectStore(home)
    .findings.filter(isProblem)
    .map(({ message }) => message);
  expect(messages.join('\n')).toContain('record 1 is not what was written');
});

async function make(store: SqliteStore, sessionId: string, records: readonly LogRecord[]): Promise<void> {
  const { epoch } = await store.claim({ sessionId, owner, create: { records, head: headFor(records) } });
  await store.release({ sessionId, epoch });
}

async function read(store: SqliteStore, sessionId: string): Promise<readonly LogRecord[]> {
  const records: LogRecord[] = [];
  for await (const batch of store.read(sessionId)) records.push(...batch);
  return records;
}
