import type { LogRecord, SessionStore } from '@groundcrew/store';
import { expect, test } from 'vitest';
import { create, makeHead } from './store-contract-data.js';

/** What every store must find. */
export function searchTests(current: () => SessionStore): void {
  const find = (words: string, limit = 10) => current().search({ words, limit, textOf });

  test('a search finds sessions by their words, the one that has more of them first, and each once', async () => {
    await create(current(), 'tide', {
      records: [say(1, 'The harbour at low tide'), say(2, 'tide, tide')],
      head,
    });
    await create(current(), 'baker', { records: [say(1, 'A bakery near the HARBOUR')], head });
    const harbour = await find('harbour');
    expect(harbour.toSorted((one, other) => (one.sessionId < other.sessionId ? -1 : 1))).toEqual([
      { sessionId: 'baker', seq: 1, text: 'A bakery near the HARBOUR' },
      { sessionId: 'tide', seq: 1, text: 'The harbour at low tide' },
    ]);
    expect(await find('Tide harbour')).toEqual([
      { sessionId: 'tide', seq: 1, text: 'The harbour at low tide' },
    ]);
    expect((await find('bakery orchard')).map(({ sessionId }) => sessionId)).toEqual(['baker']);
    expect(await find('orchard')).toEqual([]);
    expect(await find(' "*" ')).toEqual([]);
    expect((await find('harbour', 1)).length).toBe(1);
  });

  test('a search finds what was appended since the last one, also with accents and signs in it', async () => {
    const { epoch } = await create(current(), 's', { records: [say(1, 'first')], head });
    expect(await find('café')).toEqual([]);
    const records = [say(2, "Le Café d'à côté: src/index.ts 'AND NOT OR'")];
    await current().append({ sessionId: 's', epoch, expectedSeq: 1, records, head });
    const hit = { sessionId: 's', seq: 2, text: "Le Café d'à côté: src/index.ts 'AND NOT OR'" };
    for (const words of ['cafe', 'CAFÉ', 'src/index.ts', 'not and or', "d'à"])
      expect([words, await find(words)]).toEqual([words, [hit]]);
  });

  test('a search finds parts of texts without spaces, and nothing of them once they are removed', async () => {
    const said = '明日の会議は東京駅の北口で行います。배포일정을확인하세요 กำหนดส่งงาน v2を出す';
    await create(current(), 'tokyo', { records: [say(1, said)], head });
    await create(current(), 'kyoto', { records: [say(1, '京都の桜')], head });
    for (const words of ['東京', '東京駅', '会議', '駅', '北口で行', '일정', '확인하세요', 'ส่งงาน', 'v2'])
      expect([words, (await find(words)).map(({ sessionId }) => sessionId)]).toEqual([words, ['tokyo']]);
    expect((await find('京都')).map(({ sessionId }) => sessionId)).toEqual(['kyoto']);
    expect(await find('大阪')).toEqual([]);
    await current().remove('tokyo');
    await create(current(), 'tokyo', { records: [say(1, 'nothing of it')], head });
    for (const words of ['東京駅', '駅', '会議', 'v2'])
      expect([words, await find(words)]).toEqual([words, []]);
  });

  test('a search finds neither private records nor what was cut off nor what was removed', async () => {
    const secret = { ...say(1, 'a secret plan'), isPublic: false };
    const { epoch } = await create(current(), 's', { records: [secret, say(2, 'a plan to drop')], head });
    expect((await find('plan')).map(({ seq }) => seq)).toEqual([2]);
    const request = { sessionId: 's', epoch, expectedSeq: 2, records: [say(3, 'a new plan')] };
    await current().append({ ...request, head: { ...head, removed: [[2, 2]] } });
    expect((await find('plan')).map(({ seq }) => seq)).toEqual([3]);
    await current().remove('s');
    expect(await find('plan')).toEqual([]);
    await create(current(), 's', { records: [say(1, 'nothing of it')], head });
    expect(await find('plan')).toEqual([]);
  });
}

const head = makeHead({ userTurns: 1 });

function say(seq: number, text: string): LogRecord {
  return { seq, isPublic: true, type: 'said', json: JSON.stringify(text) };
}

function textOf({ isPublic, json }: LogRecord): string | undefined {
  return isPublic ? (JSON.parse(json) as string) : undefined;
}
