import { expect, test } from 'vitest';
import { all, collect, noUsage, plainRequest } from '../test/local-server.js';
import { ModelError, type ModelErrorDetails, type ModelErrorKind } from './errors.js';
import type { ModelEvent, ModelProvider } from './model.js';
import { standardRetryPolicy, withRetry } from './retry.js';

const end: ModelEvent = { type: 'end', reason: 'stop', usage: noUsage };

/** A service that fails a given number of times, each time after a piece of text. */
function failing(failures: readonly unknown[]): ModelProvider & { calls: number } {
  return {
    id: 'failing',
    calls: 0,
    async models() {
      const failure = failures[this.calls++];
      if (failure !== undefined) throw failure;
      return [{ id: 'tiny', name: 'tiny', vision: false }];
    },
    async *stream() {
      const failure = failures[this.calls++];
      yield [{ type: 'text', delta: `answer ${this.calls}` }];
      if (failure !== undefined) throw failure;
      yield [end];
    },
  };
}

async function outcome(kind: ModelErrorKind, details: ModelErrorDetails = {}, maxRetryAfter?: number) {
  const slept: number[] = [];
  const provider = failing(Array.from({ length: 20 }, () => new ModelError(kind, 'no', details)));
  const policy = standardRetryPolicy({
    random: () => 0,
    ...(maxRetryAfter !== undefined && { maxRetryAfter }),
  });
  const retried = withRetry(provider, { policy, sleep: async (ms) => slept.push(ms) });
  const { retries, totalRetryWaitSeconds } = await collect(retried).then(
    () => new ModelError(kind, 'did not fail'),
    (error: ModelError) => error,
  );
  return { calls: provider.calls, slept, retries, totalRetryWaitSeconds };
}

const once = { calls: 1, slept: [], retries: 0, totalRetryWaitSeconds: 0 };

test.each([
  ['auth', 403],
  ['bad_request', 400],
  ['bad_request', 404],
  ['quota', 402],
  ['bad_response', 200],
  ['context_too_long', 400],
  ['refused', 400],
  ['configuration', undefined],
] as const)('%s with status %s is not repeated', async (kind, statusCode) => {
  expect(await outcome(kind, { statusCode })).toEqual(once);
});

test('a refused token is tried three times in all, a request too large six times', async () => {
  expect(await outcome('auth', { statusCode: 401 })).toEqual({
    calls: 3,
    slept: [1000, 1000],
    retries: 2,
    totalRetryWaitSeconds: 2,
  });
  expect(await outcome('context_too_long', { statusCode: 413 })).toEqual({
    calls: 6,
    slept: [1000, 1000, 1000, 1000, 1000],
    retries: 5,
    totalRetryWaitSeconds: 5,
  });
});

test('a service that is away is asked six times, with longer and longer pauses', async () => {
  expect(await outcome('unavailable')).toEqual({
    calls: 6,
    slept: [1000, 1000, 2000, 4000, 8000],
    retries: 5,
    totalRetryWaitSeconds: 16,
  });
});

test('pauses vary, and only upwards, within their ceiling', () => {
  const policy = standardRetryPolicy({ random: () => 1 });
  const error = new ModelError('unavailable', 'no');
  const delays = [1, 2, 3, 4, 5, 6].map((attempt) => policy({ error, attempt, waitedMs: 0 }));
  expect(delays).toEqual([1200, 1200, 2400, 4800, 9600, undefined]);
});

test('a busy service is waited for as long as it asks, but not for days', async () => {
  const five = await outcome('rate_limit', { statusCode: 429, retryAfter: 3 });
  expect(five).toEqual({
    calls: 6,
    slept: [3000, 3000, 3000, 3000, 3000],
    retries: 5,
    totalRetryWaitSeconds: 15,
  });
  expect(await outcome('rate_limit', { statusCode: 429, retryAfter: 172_800 })).toEqual(once);
  expect(await outcome('rate_limit', { statusCode: 429, retryAfter: 3 }, 2)).toEqual(once);
});

test('all waiting together is bounded', async () => {
  expect(await outcome('rate_limit', { retryAfter: 60 })).toEqual({
    calls: 4,
    slept: [60_000, 60_000, 60_000],
    retries: 3,
    totalRetryWaitSeconds: 180,
  });
});

test('an attempt that fails midway is reported, voided and made again', async () => {
  const error = new ModelError('unavailable', 'cut off');
  const retried = withRetry(failing([error]), {
    policy: standardRetryPolicy({ random: () => 0 }),
    sleep: async () => undefined,
  });
  expect(await collect(retried)).toEqual([
    { type: 'text', delta: 'answer 1' },
    { type: 'retry', error, attempt: 1, delayMs: 1000 },
    { type: 'text', delta: 'answer 2' },
    end,
  ]);
});

test('what is no failure of the service is thrown as it is', async () => {
  const bug = new TypeError('a bug');
  await expect(collect(withRetry(failing([bug])))).rejects.toBe(bug);
});

test('an abort ends the waiting with its reason', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const retried = withRetry(failing([new ModelError('unavailable', 'no')]));
  const events = retried.stream(plainRequest, controller.signal);
  const answer = (async () => {
    for await (const batch of events) if (batch[0]?.type === 'retry') controller.abort(reason);
  })();
  await expect(answer).rejects.toBe(reason);
});

test('the list of models is asked for once more, and only where that is soon', async () => {
  const provider = failing([new ModelError('rate_limit', 'busy', { retryAfter: 0 })]);
  expect(await withRetry(provider).models()).toEqual([{ id: 'tiny', name: 'tiny', vision: false }]);
  expect(provider.calls).toBe(2);
  await expect(withRetry(failing([new ModelError('bad_request', 'no')])).models()).rejects.toThrow('no');
  const down = new ModelError('network', 'down');
  const gone = failing([down, down, down]);
  await expect(withRetry(gone, { sleep: async () => undefined }).models()).rejects.toBe(down);
  expect(gone.calls).toBe(2);
  const busy = failing([new ModelError('rate_limit', 'busy', { retryAfter: 30 })]);
  await expect(withRetry(busy).models()).rejects.toThrow('busy');
  expect(busy.calls).toBe(1);
});

test('a list that does not come is not waited for', async () => {
  const silent: ModelProvider = {
    ...failing([]),
    models: (signal) =>
      new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason))),
  };
  await expect(withRetry(silent, { listTimeLimit: 10 }).models()).rejects.toMatchObject({
    kind: 'timeout',
    message: 'The model service did not list its models within 0.01 seconds',
  });
  const controller = new AbortController();
  const reason = new Error('enough');
  const list = withRetry(silent).models(controller.signal);
  controller.abort(reason);
  await expect(list).rejects.toBe(reason);
});

test('every batch of a good answer passes unchanged', async () => {
  const batches = await all(withRetry(failing([])).stream(plainRequest, new AbortController().signal));
  expect(batches).toEqual([[{ type: 'text', delta: 'answer 1' }], [end]]);
});
