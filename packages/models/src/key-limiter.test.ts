import { expect, test } from 'vitest';
import type { Exchange, HttpResponse } from './exchange.js';
import { type KeyHold, limitedByKey } from './key-limiter.js';

test('a 429 holds the calls of all that use the key, one tries first, and other keys go on', async () => {
  const made: string[] = [];
  let isLimited = true;
  const exchange: Exchange = async ({ headers = {} }) => {
    const key = String(headers.authorization);
    made.push(key);
    const isRefused = key === 'one' && isLimited;
    return { status: isRefused ? 429 : 200, headers: { 'retry-after': '1' } } as unknown as HttpResponse;
  };
  const { exchange: limited } = limitedByKey(exchange);
  const call = async (authorization: string, signal = new AbortController().signal) => {
    const request = { method: 'POST', url: 'http://model.example/v1', headers: { authorization } } as const;
    return (await limited(request, signal)).status;
  };
  expect(await call('one')).toBe(429);
  const began = performance.now();
  const stop = new AbortController();
  const stopped = call('one', stop.signal);
  stop.abort(new Error('never mind'));
  await expect(stopped).rejects.toThrow('never mind');
  const waiting = [call('one'), call('one'), call('one')];
  expect(await call('two')).toBe(200);
  expect(made).toEqual(['one', 'two']);
  // The first that tries is refused again: the others have not been sent.
  expect(await Promise.race(waiting)).toBe(429);
  expect(made).toEqual(['one', 'two', 'one']);
  isLimited = false;
  expect((await Promise.all(waiting)).toSorted()).toEqual([200, 200, 429]);
  expect(performance.now() - began).toBeGreaterThan(1_900);
  expect(made.length).toBe(5);
});

test('a quota that is spent for longer than a minute is said to each call, which waits for nothing', async () => {
  const exchange: Exchange = async () =>
    ({ status: 429, headers: { 'retry-after': '90000' } }) as unknown as HttpResponse;
  const { exchange: limited } = limitedByKey(exchange);
  const call = () =>
    limited({ method: 'POST', url: 'http://model.example/v1', headers: {} }, AbortSignal.timeout(5_000));
  expect([(await call()).status, (await call()).status]).toEqual([429, 429]);
});

test('a key that another process was refused with is held here too, and named by its hash alone', async () => {
  const held: KeyHold[] = [];
  const refused: Exchange = async () =>
    ({ status: 429, headers: { 'retry-after': '1' } }) as unknown as HttpResponse;
  const made: number[] = [];
  const accepted: Exchange = async () => {
    made.push(performance.now());
    return { status: 200, headers: {} } as unknown as HttpResponse;
  };
  const one = limitedByKey(refused, { onHold: (hold) => void held.push(hold) });
  const other = limitedByKey(accepted);
  const request = {
    method: 'POST',
    url: 'http://model.example/v1',
    headers: { authorization: 'Bearer secret' },
  } as const;
  const signal = AbortSignal.timeout(5_000);
  await one.exchange(request, signal);
  const [hold] = held;
  if (!hold) throw new Error('no hold was reported');
  expect(JSON.stringify(hold)).not.toContain('secret');
  const began = performance.now();
  other.hold(hold);
  expect((await other.exchange(request, signal)).status).toBe(200);
  expect((made[0] ?? 0) - began).toBeGreaterThan(900);
});

test('calls that are refused together are refused once: the key is held no longer than by one of them', async () => {
  const held: number[] = [];
  const refused: Exchange = async () => ({ status: 429, headers: {} }) as unknown as HttpResponse;
  let now = 1_000;
  const { exchange } = limitedByKey(refused, {
    clock: { now: () => now },
    onHold: ({ milliseconds }) => void held.push(milliseconds),
  });
  const call = () =>
    exchange({ method: 'POST', url: 'http://m.example/v1', headers: {} }, AbortSignal.timeout(5_000));
  await Promise.all(Array.from({ length: 12 }, call));
  now += 500;
  await call();
  now += 1_000;
  await call();
  expect(held).toEqual([...Array.from({ length: 12 }, () => 500), 1_000, 2_000]);
});

test.each([
  ['2', [2_000, 2_000]],
  ['0.5', [500, 500]],
  [new Date(3_000_000).toUTCString(), [3_000, 1_000]],
  // Believed one time: then it waits by its own measure.
  ['0', [0, 1_000]],
  [new Date(1_000_000).toUTCString(), [0, 1_000]],
  ['in 5', [500, 1_000]],
  ['-7', [500, 1_000]],
  ['61', []],
  ['9'.repeat(40), []],
])('a service that asks for %s is waited for so long, and again', async (header, expected) => {
  const held: number[] = [];
  const refused: Exchange = async () =>
    ({ status: 429, headers: { 'retry-after': header } }) as unknown as HttpResponse;
  let now = 2_997_000;
  const { exchange } = limitedByKey(refused, {
    clock: { now: () => now },
    onHold: ({ milliseconds }) => void held.push(milliseconds),
  });
  const call = () =>
    exchange({ method: 'POST', url: 'http://m.example/v1', headers: {} }, AbortSignal.timeout(5_000));
  await call();
  now += expected[0] || 1;
  await call();
  expect(held).toEqual(expected);
});
