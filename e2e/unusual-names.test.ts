import { liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

/** Names that every object knows. */
const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty'];

test.each(names)('a message with the id %s is sent once, however often it is sent', async (messageId) => {
  const { session, model } = await runtime.session([say('one')]);
  expect(await session.send('Hello', { messageId })).toMatchObject({ messageId });
  await session.untilIdle();
  expect(await session.send('Hello', { messageId })).toMatchObject({ messageId });
  expect(model.requests).toHaveLength(1);
  expect(await session.failure('session.send', { prompt: 'Other', messageId })).toMatchObject({
    message: expect.stringContaining('was used with other content'),
  });
});

test.each(names)('a model with the name %s answers, and what it took is counted', async (name) => {
  const model = runtime.script(say('hi'), say('again'));
  const { provider } = providerOf(model);
  const session = await runtime.client.create({ provider, model: name });
  const events = [...(await session.turn('Hello')), ...(await session.turn('Again'))];
  expect(events.filter(({ type }) => type === 'session.error')).toEqual([]);
  const metrics = await session.call<{ modelMetrics: Record<string, unknown> }>('session.usage.getMetrics');
  expect(Object.keys(metrics.modelMetrics)).toEqual([name]);
});
