import { callTools, hold, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const tools = [{ name: 'look', skipPermission: true }];
const look = callTools({ id: 'c1', name: 'look', arguments: {} });

type Session = Awaited<ReturnType<typeof runtime.session>>['session'];

const waiting = async (session: Session): Promise<readonly string[]> => {
  const { items } = await session.call<{ items: { displayText: string }[] }>('session.queue.pendingItems');
  return items.map(({ displayText }) => displayText);
};
const said = (session: Session) =>
  session.events.flatMap(({ type, data }) =>
    type === 'user.message' ? [(data as { content: string }).content] : [],
  );
/** A session whose first turn is held, with prompts behind it. */
const held = async (...prompts: readonly string[]) => {
  const first = hold(say('done'));
  const replies = Array.from({ length: prompts.length + 4 }, () => say('ok'));
  const { session, model } = await runtime.session([first.reply, ...replies], { tools });
  await session.send('First');
  await model.asked(1);
  const ids: string[] = [];
  for (const prompt of prompts) ids.push((await session.send(prompt)).messageId);
  return { session, model, ids, release: first.release };
};

describe('the order of prompts that wait', () => {
  test('is what clients make of it: moved, inserted, copied, changed, taken back', async () => {
    const { session, ids, release } = await held('A', 'B', 'C');
    const [a = '', b = '', c = ''] = ids;
    const move = (id: string, toPosition: number) =>
      session.call('session.queue.moveItem', { id, toPosition });
    expect(await move(c, 0)).toEqual({ changed: true });
    expect(await move(c, -5)).toEqual({ changed: false });
    expect(await move(c, 99)).toEqual({ changed: true });
    expect(await waiting(session)).toEqual(['A', 'B', 'C']);
    const { id: inserted } = await session.call<{ id: string }>('session.queue.insertAt', {
      position: 1,
      message: { prompt: 'I', displayPrompt: 'inserted' },
    });
    expect(await waiting(session)).toEqual(['A', 'inserted', 'B', 'C']);
    const { id: copy } = await session.call<{ id: string }>('session.queue.duplicateAt', { id: a });
    expect(new Set([a, b, c, inserted, copy]).size).toBe(5);
    expect(await waiting(session)).toEqual(['A', 'A', 'inserted', 'B', 'C']);
    const update = (text: object) => session.call('session.queue.updateText', { id: b, ...text });
    expect(await update({ prompt: 'B2' })).toEqual({ updated: true });
    expect(await update({ prompt: 'B2' })).toEqual({ updated: false });
    expect(await session.call('session.queue.removeAt', { id: c })).toEqual({ removed: true });
    expect(await session.call('session.queue.removeAt', { id: c })).toEqual({ removed: false });
    await session.send('Front', { prepend: true });
    expect(await waiting(session)).toEqual(['Front', 'A', 'A', 'inserted', 'B2']);
    release();
    await session.next('session.idle');
    expect(said(session)).toEqual(['First', 'Front', 'A', 'A', 'inserted', 'B2']);
  });

  test('outlives kill -9, and so does a pause', async () => {
    const first = hold(say('never'));
    const model = runtime.script(first.reply, say('1'), say('2'), say('3'), say('4'));
    const process = runtime.spawn({ flags: ['--stdio'] });
    const session = await (await runtime.connect(process)).create(providerOf(model));
    await session.send('First');
    await model.asked(1);
    await session.send('A');
    const { messageId } = await session.send('B');
    await session.call('session.queue.moveItem', { id: messageId, toPosition: 0 });
    await session.call('session.queue.insertAt', { position: 1, message: { prompt: 'I' } });
    await session.call('session.queue.updateText', { id: messageId, prompt: 'B!' });
    expect(await session.call('session.queue.setDrainPaused', { paused: true })).toBeNull();
    await process.signal('SIGKILL');
    const resumed = await runtime.client.resume(session.sessionId, {
      ...providerOf(model),
      continuePendingWork: true,
    });
    await resumed.next('session.idle');
    expect(await waiting(resumed)).toEqual(['B!', 'I', 'A']);
    expect(model.requests).toHaveLength(2);
    await resumed.call('session.queue.setDrainPaused', { paused: false });
    await resumed.next('session.idle');
    const log = await resumed.call<{ events: Session['events'] }>('session.getMessages');
    expect(said({ events: log.events } as Session)).toEqual(['First', 'B!', 'I', 'A']);
  });

  test('is not changed for what does not wait, nor by what is no prompt', async () => {
    const { session, ids, release } = await held('A');
    const [id = ''] = ids;
    for (const [method, params] of [
      ['moveItem', { id: 'other', toPosition: 0 }],
      ['duplicateAt', { id: 'other' }],
      ['updateText', { id: 'other', prompt: 'x' }],
      ['sendNow', { id: 'other' }],
    ] as const)
      expect(await session.failure(`session.queue.${method}`, params)).toMatchObject({
        message: expect.stringContaining('queue_item_not_found'),
      });
    for (const [method, params] of [
      ['moveItem', { id, toPosition: 'first' }],
      ['moveItem', { id, toPosition: 0.5 }],
      ['moveItem', { toPosition: 0 }],
      ['insertAt', { position: 0 }],
      ['insertAt', { position: 0, message: { prompt: 7 } }],
      ['insertAt', { position: 0, message: { prompt: 'x', source: 'system' } }],
      ['updateText', { id }],
      ['updateText', { id, prompt: 'x'.repeat(3 * 1024 * 1024) }],
      ['setDrainPaused', { paused: 'yes' }],
      ['removeAt', { id: null }],
    ] as const)
      await expect(session.call(`session.queue.${method}`, params)).rejects.toThrow();
    expect(await waiting(session)).toEqual(['A']);
    release();
    await session.next('session.idle');
    expect(said(session)).toEqual(['First', 'A']);
  });

  test('holds when clients change it while turns take prompts up', async () => {
    const { session, ids, release } = await held(...Array.from({ length: 6 }, (_, index) => `P${index}`));
    release();
    const moves = ids.map((id, index) =>
      session.call('session.queue.moveItem', { id, toPosition: (index * 5) % 7 }).catch(() => undefined),
    );
    const copies = ids
      .slice(0, 3)
      .map((id) => session.call('session.queue.removeAt', { id }).catch(() => undefined));
    const removed = (await Promise.all([...copies, ...moves])).filter(
      (each) => (each as { removed?: boolean } | undefined)?.removed === true,
    ).length;
    await session.call('session.tasks.waitForPending');
    await session.next('session.idle');
    expect(await waiting(session)).toEqual([]);
    expect(said(session)).toHaveLength(7 - removed);
    expect(new Set(said(session)).size).toBe(7 - removed);
  });
});

describe('a queue that is held', () => {
  test('starts nothing by itself, takes words for the running turn, and goes on when it may', async () => {
    const { session } = await runtime.session([look, say('seen'), say('later'), say('last')], { tools });
    await session.send('Go');
    const { data } = await session.next('external_tool.requested');
    await session.send('Later');
    await session.call('session.queue.setDrainPaused', { paused: true });
    expect(await session.failure('session.queue.setDrainPaused', { paused: true })).toMatchObject({
      message: expect.stringContaining('queue_already_paused'),
    });
    await session.send('Now', { mode: 'immediate' });
    await session.answerTool(data.requestId, { result: 'a fork' });
    await session.next('session.idle');
    expect(said(session)).toEqual(['Go', 'Now']);
    await session.send('Last');
    expect(await waiting(session)).toEqual(['Later', 'Last']);
    await session.call('session.queue.setDrainPaused', { paused: false });
    await session.call('session.queue.setDrainPaused', { paused: false });
    await session.next('session.idle');
    expect(said(session)).toEqual(['Go', 'Now', 'Later', 'Last']);
  });

  test('lets a word into an idle session through', async () => {
    const { session } = await runtime.session([say('hi')]);
    await session.call('session.queue.setDrainPaused', { paused: true });
    await session.turn('Hello', { mode: 'immediate' });
    expect(said(session)).toEqual(['Hello']);
  });
});

describe('a prompt that waits', () => {
  test('becomes a word for the running turn', async () => {
    const { session, model } = await runtime.session([look, say('both'), say('rest')], { tools });
    await session.send('Go');
    const { data } = await session.next('external_tool.requested');
    const { messageId } = await session.send('Hurry');
    await session.send('Rest');
    expect(await session.call('session.queue.sendNow', { id: messageId })).toEqual({ steered: true });
    expect(await session.call('session.queue.pendingItems')).toMatchObject({
      items: [{ displayText: 'Rest' }],
      steeringMessages: ['Hurry'],
    });
    await session.answerTool(data.requestId, { result: 'a fork' });
    await session.next('session.idle');
    expect(said(session)).toEqual(['Go', 'Hurry', 'Rest']);
    expect(model.requests[1]?.body.messages.at(-1)).toMatchObject({ role: 'user', content: 'Hurry' });
  });

  test('goes on waiting when no turn runs', async () => {
    const { session } = await runtime.session([say('ok')]);
    await session.call('session.queue.setDrainPaused', { paused: true });
    const { messageId } = await session.send('Wait');
    expect(await session.call('session.queue.sendNow', { id: messageId })).toEqual({ steered: false });
    expect(await waiting(session)).toEqual(['Wait']);
  });

  test('that is inserted into an idle session gets its turn', async () => {
    const { session } = await runtime.session([say('ok')]);
    await session.call('session.queue.insertAt', { position: 3, message: { prompt: 'Alone' } });
    await session.next('session.idle');
    expect(said(session)).toEqual(['Alone']);
  });
});
