import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { callTools, liveRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: {} });

/** A runtime on a port, with a home whose store can be taken away. */
async function fragile(name: string) {
  const home = join(runtime.home.path, name);
  mkdirSync(home);
  const process = runtime.spawn({ home });
  const ruin = () => {
    for (const file of readdirSync(home)) rmSync(join(home, file), { recursive: true });
    mkdirSync(join(home, 'groundcrew.db'));
  };
  const repair = () => rmSync(join(home, 'groundcrew.db'), { recursive: true });
  return { process, ruin, repair };
}

describe('a store that cannot be written', () => {
  test('fails what needs it, with a reason, and the program goes on', async () => {
    const { process, ruin, repair } = await fragile('ruined');
    const client = await runtime.connect(process);
    const model = runtime.script(say('one'), say('two'), say('three'));
    const session = await client.create(providerOf(model));
    await session.turn('Hello');
    ruin();
    expect(await session.failure('session.send', { prompt: 'Hello?' })).toMatchObject({
      code: -32603,
      message: expect.stringContaining('groundcrew.db'),
    });
    expect(await client.failure('session.create', providerOf(model))).toMatchObject({ code: -32603 });
    expect(await client.call('ping', {})).toMatchObject({ message: 'pong' });
    repair();
    const fresh = await client.create(providerOf(model));
    await fresh.turn('Hello again');
  });

  test('in the middle of a turn ends it with an error and one idle', async () => {
    const { process, ruin } = await fragile('ruined-in-turn');
    const client = await runtime.connect(process);
    const session = await client.create({ ...providerOf(runtime.script(look, say('two'))), tools });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    ruin();
    await session.failure('session.tools.handlePendingToolCall', { requestId: data.requestId, result: 'x' });
    await session.next('session.idle');
    expect(story(session.events).slice(-2)).toEqual([
      expect.stringMatching(/^session\.error~ storage/),
      'session.idle~',
    ]);
  });

  test('and a client that leaves: the program goes on for the others', async () => {
    const { process, ruin } = await fragile('ruined-and-left');
    const leaver = await runtime.connect(process);
    const session = await leaver.create(providerOf(runtime.script(say('one'))));
    await session.turn('Hello');
    const stayer = await runtime.connect(process);
    await stayer.call('ping', {});
    ruin();
    await leaver.close();
    expect(await stayer.call('ping', {})).toMatchObject({ message: 'pong' });
    await stayer.failure('session.list', {});
    expect(await stayer.call('ping', {})).toMatchObject({ message: 'pong' });
    expect(await process.signal('SIGTERM')).toEqual({ code: 0, signal: null });
  });
});

describe('many at once', () => {
  test('two creations of one id are one session', async () => {
    const params = { sessionId: 'twice', toolFilterPrecedence: 'excluded' };
    const opened = await Promise.all([1, 2, 3].map(() => runtime.client.call('session.create', params)));
    expect(new Set(opened.map(({ sessionId }) => sessionId))).toEqual(new Set(['twice']));
    const { events } = await runtime.client.call<{ events: readonly { type: string }[] }>(
      'session.getMessages',
      { sessionId: 'twice' },
    );
    expect(events.map(({ type }) => type)).toEqual(['session.start']);
  });

  test('twenty prompts at once are twenty turns and one idle', async () => {
    const { session } = await runtime.session(
      Array.from({ length: 20 }, (_, index) => say(`answer ${index}`)),
    );
    const prompts = Array.from({ length: 20 }, (_, index) => `prompt ${index}`);
    await Promise.all(prompts.map((prompt) => session.send(prompt)));
    await session.next('session.idle');
    const lines = story(session.events).filter((line) => /^(user|session\.idle)/.test(line));
    expect(lines.map((line) => line.split('"')[1] ?? line)).toEqual([...prompts, 'session.idle~']);
  });

  test('a prompt sent again under its own id is one turn, and other words under that id are refused', async () => {
    const { session, model } = await runtime.session([say('one'), say('two')]);
    const receipts = await Promise.all([1, 2, 3].map(() => session.send('Once', { messageId: 'mine-1' })));
    expect(receipts).toEqual(Array(3).fill({ messageId: 'mine-1' }));
    await session.next('session.idle');
    expect(await session.send('Once', { messageId: 'mine-1' })).toEqual({ messageId: 'mine-1' });
    expect(await session.failure('session.send', { prompt: 'Other', messageId: 'mine-1' })).toMatchObject({
      code: -32603,
      message: 'Request session.send failed with message: Message id mine-1 was used with other content',
      data: { code: 'message_id_reused', retryable: false },
    });
    const attachments = [{ type: 'blob', mimeType: 'text/plain', data: '' }];
    for (const more of [{ attachments }, { mode: 'immediate' }])
      expect(
        await session.failure('session.send', { prompt: 'Once', messageId: 'mine-1', ...more }),
      ).toMatchObject({
        data: { code: 'message_id_reused' },
      });
    expect(model.requests).toHaveLength(1);
  });

  test('aborts, sends and a destroy in one breath leave a session that works', async () => {
    const { session, model } = await runtime.session([look, say('a'), say('b'), say('c')], { tools });
    await session.send('Look');
    await session.next('external_tool.requested');
    await Promise.allSettled([
      session.call('session.abort'),
      session.call('session.abort'),
      session.send('Next'),
      session.call('session.destroy'),
    ]);
    const again = await runtime.client.resume(session.sessionId, { ...providerOf(model), tools });
    await again.turn('Still there?');
    expect(story(await again.stored()).at(-2)).toMatch(/^assistant\.message/);
  });
});

describe('destroy in the middle of a turn', () => {
  test('leaves it as pending work for the client that continues', async () => {
    const { session, model } = await runtime.session([look, say('seen')], { tools });
    await session.send('Look');
    const { data } = await session.next('external_tool.requested');
    expect(await session.call('session.destroy')).toEqual({ success: true });
    expect(story(session.events).at(-1)).toBe('session.shutdown routine');
    const again = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      tools,
      continuePendingWork: true,
    });
    expect(await again.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await again.next('session.idle');
    expect(story(await again.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  test('an id that is stored and not live is opened by create, with all its past', async () => {
    const { session, model } = await runtime.session([say('one'), say('two')]);
    await session.turn('First');
    await session.call('session.destroy');
    const again = await runtime.client.create({ ...providerOf(model), sessionId: session.sessionId });
    await again.turn('Second');
    expect(model.requests[1]?.body.messages).toHaveLength(4);
    expect((await again.stored()).filter(({ type }) => type === 'session.start')).toHaveLength(1);
  });
});
