import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { StreamIds } from './delta-frames.js';

test('ids are UUIDs of version 4, and no two are alike, within one origin and across two', () => {
  const clock = { newId: () => randomUUID() };
  const [one, other] = [new StreamIds(clock), new StreamIds(clock)];
  const ids = Array.from({ length: 1000 }, () => [one.next(), other.next()]).flat();
  expect(new Set(ids).size).toBe(2000);
  const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
  expect(ids.filter((id) => !uuid.test(id))).toEqual([]);
});

test('a new origin is asked for when one is used up', () => {
  const origins = ['aaaaaaaa-0000-4000-8000-000000abcdef', 'bbbbbbbb-0000-4000-8000-000000abcdef'];
  const ids = new StreamIds({ newId: () => origins.shift() ?? '' });
  const first = ids.next();
  for (let count = 1; count < 0x1000 - 1; count++) ids.next();
  expect([first, ids.next(), ids.next()]).toEqual([
    'aaaaaaaa-0000-4000-8000-000000abc000',
    'aaaaaaaa-0000-4000-8000-000000abcfff',
    'bbbbbbbb-0000-4000-8000-000000abc000',
  ]);
});
