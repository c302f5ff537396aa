import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AsyncQueue } from './queue.js';

test('items come out in order, however pushing and taking alternate', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 3000 }), { maxLength: 8 }), async (bursts) => {
      const queue = new AsyncQueue<number>();
      const iterator = queue[Symbol.asyncIterator]();
      const expected = bursts.flatMap((size) => Array.from({ length: size }, (_, index) => index));
      const taken: number[] = [];
      for (const size of bursts) {
        for (let index = 0; index < size; index += 1) queue.push(index);
        for (let index = 0; index < size / 2; index += 1) taken.push(await taking(iterator));
      }
      expect(queue.size).toBe(expected.length - taken.length);
      queue.end();
      for (;;) {
        const result = await iterator.next();
        if (result.done === true) break;
        taken.push(result.value);
      }
      expect(taken).toEqual(expected);
    }),
    { numRuns: 30 },
  );
});

test('a reader that came first is served by the next push', async () => {
  const queue = new AsyncQueue<string>();
  const iterator = queue[Symbol.asyncIterator]();
  const readers = [iterator.next(), iterator.next(), iterator.next()];
  queue.push('a');
  queue.push('b');
  queue.end();
  expect(await Promise.all(readers)).toEqual([
    { value: 'a', done: false },
    { value: 'b', done: false },
    { value: undefined, done: true },
  ]);
});

test('a failure comes after what waits, once, and then the end', async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.fail(new Error('broken'));
  queue.push(2);
  queue.fail(new Error('again'));
  const iterator = queue[Symbol.asyncIterator]();
  expect(await iterator.next()).toEqual({ value: 1, done: false });
  await expect(iterator.next()).rejects.toThrow('broken');
  expect(await iterator.next()).toEqual({ value: undefined, done: true });
});

test('a failure reaches a reader that waits', async () => {
  const queue = new AsyncQueue<number>();
  const reader = queue[Symbol.asyncIterator]().next();
  queue.fail(new Error('broken'));
  await expect(reader).rejects.toThrow('broken');
});

test('a reader that leaves takes the rest with it', async () => {
  const queue = new AsyncQueue<number>();
  queue.push(1);
  queue.push(2);
  for await (const item of queue) {
    expect(item).toBe(1);
    break;
  }
  queue.push(3);
  expect(queue.size).toBe(0);
  expect(() => queue[Symbol.asyncIterator]()).toThrow('iterated once');
});

test('taking the last item notifies the pushing side', async () => {
  const moments: number[] = [];
  const queue: AsyncQueue<number> = new AsyncQueue(() => moments.push(queue.size));
  queue.push(1);
  queue.push(2);
  const iterator = queue[Symbol.asyncIterator]();
  await iterator.next();
  expect(moments).toEqual([]);
  await iterator.next();
  expect(moments).toEqual([0]);
});

async function taking(iterator: AsyncIterator<number, undefined>): Promise<number> {
  const result = await iterator.next();
  if (result.done === true) throw new Error('ended too early');
  return result.value;
}
