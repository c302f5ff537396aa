import {
  callTools,
  hold,
  type InProcessRuntime,
  inProcessRuntime,
  providerOf,
  say,
  story,
} from '@groundcrew/testkit';
import { afterEach, describe, expect, test, vi } from 'vitest';

let world: InProcessRuntime;
const tools = [{ name: 'look', skipPermission: true }];
const look = (id: string) => callTools({ id, name: 'look', arguments: {} });

afterEach(async () => {
  expect(world.client.examine()).toEqual([]);
  await world.close();
});

describe('commits', () => {
  test('a plain turn takes at most three, a tool round at most two', async () => {
    world = await inProcessRuntime();
    const model = world.api.script(say('zero'), say('plain'), look('c1'), look('c2'), say('done'));
    const session = await world.client.create({ ...providerOf(model), tools });
    await session.turn('Warm up');
    const before = world.store.stats().commits;
    await session.turn('Plain');
    const afterPlain = world.store.stats().commits;
    expect(afterPlain - before).toBeLessThanOrEqual(3);
    await session.send('Two rounds');
    for (const result of ['one', 'two']) {
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, { result });
    }
    await session.next('session.idle');
    expect(world.store.stats().commits - afterPlain).toBeLessThanOrEqual(3 + 2 * 2);
  });

  test('fifty sessions at once share them', async () => {
    world = await inProcessRuntime();
    const sessions = await Promise.all(
      Array.from({ length: 50 }, () => world.client.create(providerOf(world.api.script(say('hi'))))),
    );
    const before = world.store.stats().commits;
    await Promise.all(sessions.map((session) => session.turn('Hello')));
    expect(world.store.stats().commits - before).toBeLessThan(100);
  });
});

describe('bounds', () => {
  const limits = {
    toolRounds: 2,
    queuedPrompts: 2,
    turnMilliseconds: 60_000,
    stopBlocks: 3,
    continuations: 5,
  };

  test('a turn ends after so many rounds of tool calls, and the next prompt goes on', async () => {
    world = await inProcessRuntime({ limits });
    const model = world.api.script(look('c1'), look('c2'), look('c3'), say('fresh'));
    const session = await world.client.create({ ...providerOf(model), tools });
    await session.send('Loop');
    for (let i = 0; i < 2; i++) {
      const { data } = await session.next('external_tool.requested');
      await session.answerTool(data.requestId, { result: 'x' });
    }
    await session.next('session.idle');
    expect(story(session.events).slice(-2)).toEqual([
      'session.error query "Execution failed: The turn was ended after 2 rounds of tool calls. Send another prompt to go on."',
      'session.idle~',
    ]);
    await session.turn('Go on');
    expect(model.refusals).toEqual([]);
  });

  test('a queue that is full refuses, says when to try again, and takes more once it is shorter', async () => {
    world = await inProcessRuntime({ limits });
    const held = hold(say('one'));
    const model = world.api.script(held.reply, say('two'), say('three'), say('four'));
    const session = await world.client.create(providerOf(model));
    await session.send('First');
    await model.asked(1);
    await session.send('Second');
    await session.send('Third');
    expect(await session.failure('session.send', { prompt: 'Too many' })).toEqual({
      code: -32603,
      message: expect.stringContaining('2 prompts are waiting already'),
      data: { code: 'overloaded', retryable: true },
    });
    held.release();
    await session.next('session.idle');
    await session.turn('Fourth');
    const prompts = story(await session.stored()).filter((line) => line.startsWith('user'));
    expect(prompts.map((line) => line.split('"')[1])).toEqual(['First', 'Second', 'Third', 'Fourth']);
  });

  test('a turn ends after its time, with an error and one idle', async () => {
    world = await inProcessRuntime({ limits: { ...limits, turnMilliseconds: 50 } });
    const held = hold();
    const model = world.api.script(held.reply, say('fresh'));
    const session = await world.client.create(providerOf(model));
    await session.turn('Slow');
    expect(story(session.events).slice(-3)).toEqual([
      'assistant.turn_end 0',
      expect.stringMatching(
        /^session\.error query "Execution failed: The turn was ended after .* Send another prompt to go on\."$/,
      ),
      'session.idle~',
    ]);
    held.release();
    expect(story(session.events).filter((line) => line.startsWith('session.idle'))).toHaveLength(1);
  });
});

describe('a session that was idle for long', () => {
  test('is unloaded, and the next client finds all of it', async () => {
    world = await inProcessRuntime({ sessionIdleSeconds: 0.1 });
    const model = world.api.script(say('one'), say('two'));
    const session = await world.client.create(providerOf(model));
    await session.turn('First');
    const isLoaded = () => world.runtime.find(session.sessionId)?.isLoaded;
    await vi.waitFor(() => expect(isLoaded()).toBe(false));
    await session.turn('Second');
    expect(model.requests[1]?.body.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
    await vi.waitFor(() => expect(isLoaded()).toBe(false));
    expect(await session.call('session.name.get')).toEqual({ name: 'First' });
    expect(story(await session.stored())).not.toContain('session.shutdown routine');
    await session.call('session.destroy');
    expect(story(session.events).at(-1)).toBe('session.shutdown routine');
  });

  test('which only waits for an answer while no client is there is unloaded at once, and goes on with its key', async () => {
    world = await inProcessRuntime();
    const model = world.api.script(look('c1'), say('seen'));
    const before = world.connect();
    const session = await before.create({ ...providerOf(model), tools });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    await before.close();
    await vi.waitFor(() => expect(world.runtime.find(session.sessionId)).toBeUndefined());
    const after = await world.client.resume(session.sessionId);
    expect((await after.next('session.resume')).data.sessionWasActive).toBe(true);
    expect(await after.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await after.next('session.idle');
    expect(story(await after.stored()).at(-2)).toBe('assistant.message "seen"');
    expect(model.requests.map(({ headers }) => headers.authorization)).toEqual(
      Array(2).fill('Bearer key-of-the-tests'),
    );
  });

  test('stays while it waits for an answer', async () => {
    world = await inProcessRuntime({ sessionIdleSeconds: 0.1 });
    const idle = await world.client.create(providerOf(world.api.script()));
    const session = await world.client.create({
      ...providerOf(world.api.script(look('c1'), say('seen'))),
      tools,
    });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    await vi.waitFor(() => expect(world.runtime.find(idle.sessionId)?.isLoaded).toBe(false));
    expect(world.runtime.find(session.sessionId)?.isRunning).toBe(true);
    expect(await session.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await session.next('session.idle');
  });
});
