import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();

describe('what a client gives on resume counts', () => {
  test.each(['warm', 'cold'])('model and effort, %s', async (state) => {
    const { session, model } = await runtime.session([say('one'), say('two')]);
    await session.turn('First');
    if (state === 'cold') await session.call('session.destroy');
    const again = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      model: 'other',
      reasoningEffort: 'high',
    });
    expect((await again.next('session.resume')).data).toMatchObject({ selectedModel: 'other' });
    await again.turn('Second');
    expect(model.requests[1]?.body).toMatchObject({ model: 'other', reasoning_effort: 'high' });
    expect(await again.call('session.model.getCurrent')).toEqual({
      modelId: 'other',
      reasoningEffort: 'high',
    });
  });

  test.each(['warm', 'cold'])('the working directory, %s', async (state) => {
    const { session, model } = await runtime.session([say('one'), say('two')]);
    await session.turn('First');
    if (state === 'cold') await session.call('session.destroy');
    const workingDirectory = join(runtime.home.path, `elsewhere-${state}`);
    mkdirSync(workingDirectory);
    const again = await runtime.client.resume(session.sessionId, { ...providerOf(model), workingDirectory });
    expect((await again.next('session.resume')).data).toMatchObject({ context: { cwd: workingDirectory } });
    await again.turn('Second');
    expect(model.requests[1]?.body.messages[0]?.content).toContain(
      `Working directory: ${workingDirectory}\n`,
    );
  });

  test('a directory that is not there is refused, and the session is as it was', async () => {
    const { session, model } = await runtime.session([say('one'), say('two')]);
    await session.turn('First');
    for (const state of ['warm', 'cold']) {
      if (state === 'cold') await session.call('session.destroy');
      expect(await session.failure('session.resume', { workingDirectory: '/no/such' })).toMatchObject({
        code: -32603,
        message: expect.stringContaining('Directory does not exist or cannot be accessed: /no/such'),
      });
    }
    const again = await runtime.client.resume(session.sessionId, providerOf(model));
    await again.turn('Second');
  });
});

test('what is left out stays: the model switched to, the mode, the name and the directory', async () => {
  const workingDirectory = join(runtime.home.path, 'kept');
  mkdirSync(workingDirectory);
  const { session, model } = await runtime.session([say('one'), say('two')], { workingDirectory });
  await session.turn('First');
  await session.call('session.model.switchTo', { modelId: 'switched' });
  await session.call('session.mode.set', { mode: 'plan' });
  await session.call('session.name.set', { name: 'Kept' });
  await session.call('session.destroy');
  const { provider } = providerOf(model);
  const again = await runtime.client.resume(session.sessionId, { provider });
  expect((await again.next('session.resume')).data).toMatchObject({
    context: { cwd: workingDirectory },
    selectedModel: 'switched',
  });
  await again.turn('Second');
  expect(model.requests[1]?.body.model).toBe('switched');
  expect(await again.call('session.mode.get')).toBe('plan');
  expect(await again.call('session.name.get')).toEqual({ name: 'Kept' });
});

test('odd texts in a prompt arrive unharmed and are kept', async () => {
  const odd = 'nul \u0000, sep \u2028, lone \ud800, pair \ud83d\ude80, bom \ufeff, quote ", slash \\';
  const { session, model } = await runtime.session([say(odd), say('two')]);
  await session.turn(odd);
  await session.call('session.destroy');
  const again = await runtime.client.resume(session.sessionId, providerOf(model));
  await again.turn('Second');
  const [, first, second] = model.requests[1]?.body.messages ?? [];
  expect(first?.content).toMatch(/<\/current_datetime>/);
  expect(String(first?.content).endsWith(odd)).toBe(true);
  expect(second?.content).toBe(odd);
  expect(story(await again.stored())).toContain(`assistant.message ${JSON.stringify(odd)}`);
});
