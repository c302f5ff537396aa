import { hold, liveRuntime, providerOf, type RuleModel, say } from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';
import { agentModel, begin, say as speak } from './agent-world.js';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const models: RuleModel[] = [];
afterAll(() => Promise.all(models.map((model) => model.close())));

type Session = Awaited<ReturnType<typeof runtime.session>>['session'];

const contents = (session: Session) =>
  session.events.flatMap(({ type, data, agentId }) =>
    type === 'user.message' && agentId === undefined ? [(data as { content: string }).content] : [],
  );
const waiting = async (session: Session) => {
  const { items } = await session.call<{ items: { id: string; displayText: string }[] }>(
    'session.queue.pendingItems',
  );
  return items.map(({ displayText }) => displayText);
};
const setHeld = (session: Session, paused: boolean) =>
  session.call('session.queue.setDrainPaused', { paused });
const queueOf = async (session: Session) => {
  const { waitingOn } = await session.call<{ waitingOn: { kind: string }[] }>('session.metadata.activity');
  return waitingOn.find(({ kind }) => kind === 'queue');
};

describe('a queue that is held', () => {
  test('goes on at once when it may, though agents still work in the background', async () => {
    let open: () => void = () => undefined;
    const opened = new Promise<void>((resolve) => {
      open = resolve;
    });
    const { model } = await agentModel({
      ROOT: ({ results, messages }) =>
        results.length === 0 ? begin(['B1'], { mode: 'background' }) : speak(`To ${messages.length}`),
      B1: () => opened.then(() => speak('one')),
    });
    models.push(model);
    const session = await runtime.client.create(model.settings);
    await session.send('ROOT go');
    await session.next('assistant.idle');
    await setHeld(session, true);
    await session.send('Later');
    expect(contents(session)).toEqual(['ROOT go']);
    await setHeld(session, false);
    await session.next('user.message', ({ data }) => data.content === 'Later');
    await session.next('assistant.message', ({ agentId }) => agentId === undefined);
    expect(session.events.map(({ type }) => type)).not.toContain('session.idle');
    open();
    await session.next('session.idle');
  });

  test('is named as the reason why its prompts wait', async () => {
    const { session } = await runtime.session([say('ok')]);
    await setHeld(session, true);
    expect(await queueOf(session)).toBeUndefined();
    await session.send('Later');
    expect(await queueOf(session)).toMatchObject({ prompts: 1, paused: true });
    await setHeld(session, false);
    await session.next('session.idle');
    expect(await queueOf(session)).toBeUndefined();
  });

  test('is not held in forks of its session', async () => {
    const { session, model } = await runtime.session([say('ok'), say('forked')]);
    await session.turn('First');
    await setHeld(session, true);
    await session.send('Later');
    const { sessionId } = await runtime.client.call<{ sessionId: string }>('sessions.fork', {
      sessionId: session.sessionId,
    });
    const fork = await runtime.client.resume(sessionId, providerOf(model));
    expect(await waiting(fork)).toEqual([]);
    await fork.turn('Second');
    expect(model.requests).toHaveLength(2);
    expect(await waiting(session)).toEqual(['Later']);
  });

  test('keeps the headers of its prompts while no client is there', async () => {
    const model = runtime.script(say('first'), say('ok'), say('copy'));
    const client = await runtime.connect(undefined, { hasGaps: true });
    const session = await client.create(providerOf(model));
    await session.turn('First');
    await setHeld(session, true);
    const requestHeaders = { 'x-of-the-prompt': 'a-secret-of-it' };
    const { messageId } = await session.send('Later', { requestHeaders });
    await session.call('session.queue.duplicateAt', { id: messageId });
    await session.call('session.queue.moveItem', { id: messageId, toPosition: 1 });
    await client.close();
    const again = await runtime.client.resume(session.sessionId, providerOf(model));
    expect(await waiting(again)).toEqual(['Later', 'Later']);
    await setHeld(again, false);
    await again.next('session.idle');
    expect(model.requests.map(({ headers }) => headers['x-of-the-prompt'])).toEqual([
      undefined,
      'a-secret-of-it',
      'a-secret-of-it',
    ]);
    expect(JSON.stringify(await again.stored())).not.toContain('a-secret-of-it');
  });

  test('is kept through a rewind, with its prompts', async () => {
    const { session } = await runtime.session([say('one'), say('two'), say('three')]);
    await session.turn('First');
    await session.turn('Second');
    await setHeld(session, true);
    await session.send('Later');
    const second = (await session.stored()).findLast(({ type }) => type === 'user.message');
    await session.call('session.history.truncate', { eventId: second?.id });
    expect(await waiting(session)).toEqual(['Later']);
    await setHeld(session, false);
    await session.next('session.idle');
    expect((await session.stored()).filter(({ type }) => type === 'user.message')).toHaveLength(2);
  });
});

describe('the ids of prompts that wait', () => {
  test('are those of one prompt each, whichever client chose them', async () => {
    const { session } = await runtime.session([say('1'), say('2'), say('3')]);
    await setHeld(session, true);
    const { id } = await session.call<{ id: string }>('session.queue.insertAt', {
      position: 0,
      message: { prompt: 'Inserted' },
    });
    expect(await session.failure('session.send', { prompt: 'Other', messageId: id })).toMatchObject({
      message: expect.stringContaining('was used with other content'),
    });
    const { messageIds } = await session.call<{ messageIds: string[] }>('session.sendMessages', {
      messages: [{ prompt: 'A' }, { prompt: 'B' }],
    });
    await session.call('session.queue.duplicateAt', { id: messageIds[1] });
    await setHeld(session, false);
    await session.next('session.idle');
    const ids = session.events.flatMap(({ type, data }) =>
      type === 'user.message' ? [(data as { messageId: string }).messageId] : [],
    );
    expect(contents(session)).toEqual(['Inserted', 'A', 'B', 'A', 'B']);
    expect(new Set(ids).size).toBe(5);
  });
});

test('a large attachment goes with every way to send a prompt', async () => {
  const { session } = await runtime.session([say('1'), say('2'), say('3'), say('4')]);
  const data = Buffer.alloc(4 * 1024 * 1024, 7).toString('base64');
  const attachments = [{ type: 'blob', data, mimeType: 'application/octet-stream', displayName: 'a.bin' }];
  await session.turn('Sent', { attachments });
  await session.call('session.sendAndWait', { prompt: 'Waited for', attachments });
  await session.call('session.sendMessages', { messages: [{ prompt: 'One of', attachments }], wait: true });
  await session.call('session.queue.insertAt', { position: 0, message: { prompt: 'Inserted', attachments } });
  await session.next('user.message', ({ data: { content } }) => content === 'Inserted');
  await session.next('session.idle');
  expect(session.events.filter(({ type }) => type === 'session.error')).toEqual([]);
});

test('text that a client shows for a prompt is bounded when it is changed, too', async () => {
  const { session } = await runtime.session([say('ok')]);
  await setHeld(session, true);
  const { messageId } = await session.send('Later');
  const change = { id: messageId, prompt: 'x', displayPrompt: 'y'.repeat(3 * 1024 * 1024) };
  expect(await session.failure('session.queue.updateText', change)).toMatchObject({
    message: expect.stringContaining('at most'),
  });
  expect(await waiting(session)).toEqual(['Later']);
});

test('a prompt that is waited for does not end with the turn before it', async () => {
  const first = hold(say('one'));
  const model = runtime.script(first.reply, say('two'));
  const client = await runtime.connect();
  let give: () => void = () => undefined;
  const given = new Promise<void>((resolve) => {
    give = resolve;
  });
  let refreshes = 0;
  client.answer = async (method, params) => {
    if (method !== 'gitHubToken.getToken') throw new Error(method);
    const isRefresh = (params as { reason: string }).reason === 'refresh';
    if (isRefresh) {
      refreshes += 1;
      await given;
    }
    return { kind: 'token', accessToken: 'gho_token', expiresIn: isRefresh ? 90_000 : 3601 };
  };
  const began = Date.now();
  const session = await client.create({ ...providerOf(model), gitHubTokenProviderRegistrationId: 'r1' });
  await session.send('First');
  await model.asked(1);
  // From then on an hour or less is left of the token, and the next prompt waits for another.
  await expect.poll(() => Date.now() - began, { timeout: 5000 }).toBeGreaterThan(1500);
  const second = session.call('session.sendAndWait', { prompt: 'Second' });
  await expect.poll(() => refreshes).toBe(1);
  first.release();
  await session.next('session.idle');
  give();
  expect(await second).toMatchObject({ aborted: false, response: { data: { content: 'two' } } });
});
