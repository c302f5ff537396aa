import { expect, test } from 'vitest';
import { withCachedModels } from './cached-models.js';
import type { ModelInfo, ModelProvider } from './model.js';

const info: ModelInfo = { id: 'm', name: 'M', vision: false };

/** A service whose answers are given by hand. */
function listing() {
  const asked: PromiseWithResolvers<readonly ModelInfo[]>[] = [];
  const provider: ModelProvider = {
    id: 'listing',
    models: () => {
      const answer = withResolvers();
      asked.push(answer);
      return answer.promise;
    },
    stream: () => {
      throw new Error('not asked');
    },
  };
  return { provider, asked };
}

function withResolvers(): PromiseWithResolvers<readonly ModelInfo[]> {
  let resolve: PromiseWithResolvers<readonly ModelInfo[]>['resolve'] = () => undefined;
  let reject: PromiseWithResolvers<readonly ModelInfo[]>['reject'] = () => undefined;
  const promise = new Promise<readonly ModelInfo[]>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}

interface PromiseWithResolvers<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void;
  reject: (reason: unknown) => void;
}

test('a hundred who want the list at once are one request', async () => {
  const { provider, asked } = listing();
  const { models } = withCachedModels(provider);
  const lists = Array.from({ length: 100 }, () => models());
  asked[0]?.resolve([info]);
  expect(new Set(await Promise.all(lists))).toEqual(new Set([[info]]));
  await models();
  expect(asked).toHaveLength(1);
});

test('an old list is asked for again, once', async () => {
  const { provider, asked } = listing();
  let now = 1000;
  const { models } = withCachedModels(provider, { maxAge: 50, now: () => now });
  const first = models();
  asked[0]?.resolve([info]);
  await first;
  now = 1049;
  await models();
  now = 1050;
  const second = [models(), models()];
  asked[1]?.resolve([]);
  expect([await Promise.all(second), asked.length]).toEqual([[[], []], 2]);
});

test('a failure reaches every waiting caller and is not kept', async () => {
  const { provider, asked } = listing();
  const { models } = withCachedModels(provider);
  const both = [models(), models()];
  asked[0]?.reject(new Error('busy'));
  expect(await Promise.allSettled(both)).toEqual([
    { status: 'rejected', reason: new Error('busy') },
    { status: 'rejected', reason: new Error('busy') },
  ]);
  const again = models();
  asked[1]?.resolve([info]);
  expect(await again).toEqual([info]);
});

test('one who gives up does not take the list from others', async () => {
  const { provider, asked } = listing();
  const { models } = withCachedModels(provider);
  const controller = new AbortController();
  const impatient = models(controller.signal);
  const patient = models(new AbortController().signal);
  controller.abort(new Error('enough'));
  await expect(impatient).rejects.toThrow('enough');
  asked[0]?.resolve([info]);
  expect(await patient).toEqual([info]);
});
