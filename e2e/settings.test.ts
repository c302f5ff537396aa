import { liveRuntime, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const received = (session: { events: Parameters<typeof story>[0] }, pattern: RegExp) =>
  story(session.events, { without: [] }).filter((line) => pattern.test(line));
const failed = (method: string, detail: string) => ({
  code: -32603,
  message: `Request ${method} failed with message: ${detail}`,
});

describe('the model', () => {
  test('of the session answers; a switch is published, kept and used', async () => {
    const { session, model } = await runtime.session([say('a'), say('b')]);
    expect(await session.call('session.model.getCurrent')).toEqual({ modelId: 'scripted' });
    await session.turn('One');
    expect(
      await session.call('session.model.switchTo', { modelId: 'other', reasoningEffort: 'high' }),
    ).toEqual({
      status: 'applied',
      deferred: false,
      modelId: 'other',
      deprecationWarnings: [],
    });
    expect((await session.next('session.model_change')).data).toMatchObject({
      newModel: 'other',
      previousModel: 'scripted',
      reasoningEffort: 'high',
      source: 'sdk',
    });
    expect(await session.call('session.model.getCurrent')).toEqual({
      modelId: 'other',
      reasoningEffort: 'high',
    });
    await session.turn('Two');
    expect(model.requests.map(({ body }) => [body.model, body.reasoning_effort])).toEqual([
      ['scripted', undefined],
      ['other', 'high'],
    ]);
  });

  test('that no client named is published at the first turn', async () => {
    const { session } = await runtime.session([say('a')], { model: null });
    await session.turn('One');
    const [change] = session.events.filter(({ type }) => type === 'session.model_change');
    expect(change?.data).toMatchObject({ newModel: expect.any(String), source: 'startup' });
  });

  test('change names no source to clients of old, neither live nor in the history', async () => {
    const { session } = await runtime.session([say('a')], { toolFilterPrecedence: null });
    await session.turn('One');
    await session.call('session.model.switchTo', { modelId: 'other' });
    const stored = (await session.stored()).filter(({ type }) => type === 'session.model_change');
    const live = session.events.filter(({ type }) => type === 'session.model_change');
    expect(live).toHaveLength(1);
    expect(stored).toEqual(live);
    expect(live[0]?.data).not.toHaveProperty('source');
  });

  test('without an id cannot be switched to', async () => {
    const { session } = await runtime.session([]);
    expect(await session.failure('session.model.switchTo')).toMatchObject({
      code: -32602,
      message: expect.stringContaining('Request session.model.switchTo failed with message: modelId: '),
    });
    expect(await session.failure('session.model.switchTo', { modelId: '' })).toMatchObject({
      code: -32603,
      message: 'Request session.model.switchTo failed with message: modelId: a model has a name',
    });
  });
});

describe('the name', () => {
  test('is the first prompt until a client sets one', async () => {
    const { session } = await runtime.session([say('a')]);
    expect(await session.call('session.name.get')).toEqual({ name: null });
    await session.turn('First words');
    expect(await session.call('session.name.get')).toEqual({ name: 'First words' });
    expect(await session.call('session.name.setAuto', { summary: 'A guess' })).toEqual({ applied: true });
    expect(await session.call('session.name.set', { name: '  My session ' })).toBeNull();
    expect(await session.call('session.name.setAuto', { summary: 'Another guess' })).toEqual({
      applied: false,
    });
    expect(await session.call('session.name.get')).toEqual({ name: 'My session' });
    const titles = session.events.flatMap(({ type, data }) =>
      type === 'session.title_changed' ? [data] : [],
    );
    expect(titles).toEqual([{ title: 'First words' }, { title: 'A guess' }, { title: 'My session' }]);
    expect(await session.call('session.getMetadata')).toMatchObject({ session: { name: 'My session' } });
  });

  test.each(['', '   '])('%j is none', async (name) => {
    const { session } = await runtime.session([]);
    expect(await session.failure('session.name.set', { name })).toEqual(
      failed('session.name.set', 'Session name cannot be empty'),
    );
  });
});

describe('the mode', () => {
  test('is published when it changes, and planning marks the prompt', async () => {
    const { session, model } = await runtime.session([say('a'), say('b')]);
    expect(await session.call('session.mode.get')).toBe('interactive');
    expect(await session.call('session.mode.set', { mode: 'plan' })).toEqual({
      status: 'unchanged',
      modelChanged: false,
    });
    await session.call('session.mode.set', { mode: 'plan' });
    expect(await session.call('session.mode.get')).toBe('plan');
    expect(received(session, /mode/)).toEqual(['session.mode_changed interactive → plan']);
    await session.turn('Think');
    expect(model.requests[0]?.body.messages.at(-1)?.content).toMatch(
      /<\/current_datetime>\n\n\[\[PLAN\]\] Think$/,
    );
  });

  test('of no known kind is refused', async () => {
    const { session } = await runtime.session([]);
    const detail = 'unknown variant `bogus`, expected one of `interactive`, `plan`, `autopilot`';
    expect(await session.failure('session.mode.set', { mode: 'bogus' })).toEqual(
      failed('session.mode.set', detail),
    );
  });
});

describe('a note', () => {
  test.each([
    ['info', 'session.info notification "noted"'],
    ['warning', 'session.warning notification "noted"'],
    ['error', 'session.error notification "noted"'],
  ])('of level %s is published and stored', async (level, line) => {
    const { session } = await runtime.session([]);
    const { eventId } = await session.call<{ eventId: string }>('session.log', { message: 'noted', level });
    expect(received(session, /noted/)).toEqual([line]);
    expect((await session.stored()).at(-1)?.id).toBe(eventId);
  });

  test('that is ephemeral is emitted and not stored', async () => {
    const { session } = await runtime.session([]);
    const { eventId } = await session.call<{ eventId: string }>('session.log', {
      message: 'noted',
      ephemeral: true,
    });
    expect(session.events.at(-1)).toMatchObject({ id: eventId, ephemeral: true, type: 'session.info' });
    expect((await session.stored()).map(({ id }) => id)).not.toContain(eventId);
  });

  test('without words is refused', async () => {
    const { session } = await runtime.session([]);
    expect(await session.failure('session.log')).toEqual(
      failed('session.log', "missing parameter 'message'"),
    );
  });
});

describe('options', () => {
  test('change what they name and nothing else', async () => {
    const { session, model } = await runtime.session([say('a'), say('b')], {
      systemMessage: { mode: 'replace', content: 'Be brief.' },
    });
    await session.turn('One');
    expect(
      await session.call('session.options.update', {
        enableStreaming: true,
        model: 'other',
        skipCustomInstructions: true,
        installedPlugins: [],
        unheardOf: 1,
      }),
    ).toEqual({ success: true });
    await session.turn('Two');
    expect(
      model.requests.map(({ body }) => [body.model, body.stream ?? false, body.messages[0]?.content]),
    ).toEqual([
      ['scripted', false, 'Be brief.'],
      ['other', true, 'Be brief.'],
    ]);
    expect(received(session, /model_change/)).toEqual(['session.model_change other sdk']);
  });

  test('given again on resume replace the earlier ones, and what is left out stays', async () => {
    const { session, model } = await runtime.session([say('a'), say('b')], { streaming: true });
    await session.turn('One');
    await runtime.client.resume(session.sessionId, { systemMessage: { mode: 'replace', content: 'New.' } });
    await session.turn('Two');
    expect(model.requests[1]?.body).toMatchObject({
      stream: true,
      messages: [{ role: 'system', content: 'New.' }, {}, {}, {}],
    });
  });
});
