import { afterAll, describe, expect, test } from 'vitest';
import { openPostgresStore } from '../src/store.js';
import { headWith, ownerNamed, readAll, recordAt } from './data.js';
import { serverForTests } from './world.js';

const server = await serverForTests();
afterAll(() => server?.close());

const attempts = 10_000;
const sessions = 50;

describe.skipIf(!server)('nodes that want the same sessions', () => {
  if (!server) return;

  test('of 10,000 appends under epochs that another node has raised, none is accepted', async () => {
    const url = await server.newSchema();
    const [ada, bob] = [openPostgresStore({ url }), openPostgresStore({ url })];
    const ids = Array.from({ length: sessions }, (_, index) => `s${index}`);
    const create = { records: [recordAt(1, 'ada')], head: headWith() };
    const first = await Promise.all(
      ids.map((sessionId) => ada.claim({ sessionId, owner: ownerNamed('ada'), create })),
    );
    const taken = await Promise.all(
      ids.map((sessionId) => bob.claim({ sessionId, owner: ownerNamed('bob') })),
    );
    const outcomes = { accepted: 0, stale_owner: 0, other: 0 };
    const rounds = attempts / sessions;
    const head = headWith({ name: 'stale' });
    for (let round = 0; round < rounds; round += 1) {
      // The rightful owner writes in the same moment, so that seqs fit as often as not.
      const rightful = ids.map((sessionId, index) =>
        bob.append({
          sessionId,
          epoch: taken[index]?.epoch ?? 0,
          expectedSeq: round + 1,
          records: [recordAt(round + 2, 'bob')],
          head: headWith(),
        }),
      );
      const stale = ids.map((sessionId, index) =>
        ada
          .append({
            sessionId,
            epoch: first[index]?.epoch ?? 0,
            expectedSeq: round + 1,
            records: [recordAt(round + 2, 'ada')],
            head,
          })
          .then(
            () => 'accepted' as const,
            (error: { readonly kind: string }) => (error.kind === 'stale_owner' ? error.kind : 'other'),
          ),
      );
      for (const outcome of await Promise.all(stale)) outcomes[outcome] += 1;
      await Promise.all(rightful);
    }
    expect(outcomes).toEqual({ accepted: 0, stale_owner: attempts, other: 0 });
    const expected = [
      recordAt(1, 'ada'),
      ...Array.from({ length: rounds }, (_, index) => recordAt(index + 2, 'bob')),
    ];
    for (const sessionId of ids) expect(await readAll(bob, sessionId)).toEqual(expected);
    await Promise.all([ada.close(), bob.close()]);
  }, 120_000);

  test('nodes that claim one session in turns, each writing until it is fenced, leave one gapless log', async () => {
    const url = await server.newSchema();
    const stores = [openPostgresStore({ url }), openPostgresStore({ url }), openPostgresStore({ url })];
    const create = { records: [], head: headWith({ hasWork: true }) };
    const written: string[] = [];
    await Promise.all(
      stores.map(async (store, index) => {
        const owner = ownerNamed(`node-${index}`);
        for (let turn = 0; turn < 30; turn += 1) {
          const { epoch, seq } = await store.claim({ sessionId: 's', owner, create, force: true });
          let at = seq;
          const isOurs = async () => {
            const record = recordAt(at + 1, `${index}.${turn}`);
            await store.append({
              sessionId: 's',
              epoch,
              expectedSeq: at,
              records: [record],
              head: create.head,
            });
            at += 1;
            written[at] = record.json;
          };
          try {
            for (let step = 0; step < 5; step += 1) await isOurs();
          } catch (error) {
            expect(error).toMatchObject({ kind: 'stale_owner' });
          }
        }
      }),
    );
    const records = await readAll(stores[0] ?? openPostgresStore({ url }), 's');
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1));
    expect(records.map(({ json }) => json)).toEqual(written.slice(1));
    await Promise.all(stores.map((store) => store.close()));
  }, 60_000);
});
