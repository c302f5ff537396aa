import { liveRuntime, say, story } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

const warnings = (events: readonly { type: string; data: unknown }[]) =>
  events.flatMap(({ type, data }) =>
    type === 'session.warning' ? [(data as { message: string }).message] : [],
  );

test('effort goes along with another model from the next message on, and the history stays', async () => {
  const { session, model } = await runtime.session([say('a'), say('b'), say('c')]);
  await session.turn('One');
  await session.call('session.model.switchTo', { modelId: 'gpt-5.2', reasoningEffort: 'xhigh' });
  const events = await session.turn('Two');
  await session.call('session.model.switchTo', { modelId: 'nobody-knows-it', reasoningEffort: 'low' });
  await session.turn('Three');
  expect(model.requests.map(({ body }) => [body.model, body.reasoning_effort, body.messages.length])).toEqual(
    [
      ['scripted', undefined, 2],
      ['gpt-5.2', 'xhigh', 4],
      ['nobody-knows-it', 'low', 6],
    ],
  );
  expect(warnings(session.events)).toEqual([]);
  expect(story(events).some((line) => line.startsWith('session.error'))).toBe(false);
});

test('a model that does not think is called without effort, and clients get a warning', async () => {
  const { session, model } = await runtime.session([say('a'), say('b'), say('c')]);
  await session.call('session.model.switchTo', { modelId: 'gpt-4.1', reasoningEffort: 'high' });
  await session.turn('One');
  await session.call('session.model.setReasoningEffort', { reasoningEffort: 'low' });
  await session.turn('Two');
  await session.call('session.model.switchTo', { modelId: 'o3', reasoningEffort: 'max' });
  await session.turn('Three');
  expect(model.requests.map(({ body }) => body.reasoning_effort)).toEqual([undefined, undefined, undefined]);
  expect(warnings(await session.stored())).toEqual([
    'The model gpt-4.1 knows no reasoning effort: it is asked without the effort "high".',
    'The model gpt-4.1 knows no reasoning effort: it is asked without the effort "low".',
    'The model o3 knows the efforts low, medium, high: it is asked without the effort "max".',
  ]);
});

test('a session made or resumed so says it once', async () => {
  const { session, model } = await runtime.session([say('a'), say('b'), say('c')], {
    model: 'gpt-4o',
    reasoningEffort: 'high',
  });
  await session.turn('One');
  await session.turn('Two');
  await runtime.client.resume(session.sessionId, { model: 'gpt-4.1', reasoningEffort: 'medium' });
  await session.turn('Three');
  expect(model.requests.map(({ body }) => body.reasoning_effort)).toEqual([undefined, undefined, undefined]);
  expect(warnings(await session.stored())).toEqual([
    'The model gpt-4o knows no reasoning effort: it is asked without the effort "high".',
    'The model gpt-4.1 knows no reasoning effort: it is asked without the effort "medium".',
  ]);
});

test('what the app knows of a model of its own counts', async () => {
  const model = runtime.script(say('a'));
  const session = await runtime.client.create({
    model: 'alpha/dull',
    reasoningEffort: 'high',
    providers: [{ name: 'alpha', baseUrl: model.baseUrl }],
    models: [{ id: 'dull', provider: 'alpha', capabilities: { supports: { reasoningEffort: false } } }],
  });
  await session.turn('One');
  expect(model.requests[0]?.body).not.toHaveProperty('reasoning_effort');
  expect(warnings(session.events)).toEqual([
    'The model alpha/dull knows no reasoning effort: it is asked without the effort "high".',
  ]);
});

test('a model or an effort that is blank is none', async () => {
  const { session, model } = await runtime.session([say('a'), say('b')], { reasoningEffort: '' });
  await session.turn('One');
  await session.call('session.model.switchTo', { modelId: 'gpt-5', reasoningEffort: '' });
  await session.turn('Two');
  expect(model.requests.map(({ body }) => [body.model, 'reasoning_effort' in body])).toEqual([
    ['scripted', false],
    ['gpt-5', false],
  ]);
  const blank = await runtime.client.create({ model: '' });
  expect((await blank.turn('Hello')).find(({ type }) => type === 'assistant.usage')?.data).toMatchObject({
    model: 'offline',
  });
});
