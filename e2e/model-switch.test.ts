import {
  callTools,
  liveRuntime,
  type ScriptedModel,
  type ScriptedReply,
  say,
  story,
  type WireClient,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const look = { tools: [{ name: 'look', skipPermission: true }] };
const lookAround = callTools({ id: 'c1', name: 'look', arguments: {} });
const models = ({ requests }: ScriptedModel) => requests.map(({ body }) => body.model);
const received = (session: WireSession) =>
  story(session.events).filter((line) =>
    /^(user\.m|assistant\.m|auto_mode|session\.(model_c|idle|error|warning))/.test(line),
  );

describe('a model chosen while a turn runs', () => {
  test('answers from the next message on, with the history kept', async () => {
    const { session, model } = await runtime.session(
      [lookAround, say('one'), say('two'), say('three')],
      look,
    );
    await session.send('One');
    const { requestId } = (await session.next('external_tool.requested')).data;
    const current = () => session.call('session.model.getCurrent');
    expect(
      await session.call('session.model.switchTo', { modelId: 'other', reasoningEffort: 'low' }),
    ).toEqual({
      status: 'applied',
      deferred: true,
      modelId: 'scripted',
      message: 'Model changed from scripted to other, from the next message on',
      deprecationWarnings: [],
    });
    expect(await current()).toEqual({ modelId: 'scripted' });
    await session.send('Two');
    await session.send('Now', { mode: 'immediate' });
    await session.answerTool(requestId, { result: 'a tree' });
    await session.next('session.idle');
    await session.turn('Three');
    expect(models(model)).toEqual(['scripted', 'scripted', 'other', 'other']);
    expect(model.requests.map(({ body }) => body.reasoning_effort)).toEqual([
      undefined,
      undefined,
      'low',
      'low',
    ]);
    expect(model.requests[3]?.body.messages.map(({ role }) => role).join(' ')).toBe(
      'system user assistant tool user assistant user assistant user',
    );
    expect(await current()).toEqual({ modelId: 'other', reasoningEffort: 'low' });
    expect(received(session)).toEqual([
      'user.message "One" idle 0',
      'assistant.message "" look#c1',
      'user.message "Now" steering 0',
      'assistant.message "one"',
      'session.model_change other sdk',
      'user.message "Two" queued 0',
      'assistant.message "two"',
      'session.idle~',
      'user.message "Three" idle 0',
      'assistant.message "three"',
      'session.idle~',
    ]);
  });

  test('is known after a crash', async () => {
    const model = runtime.script(lookAround, say('one'), say('two'));
    const settings = { model: 'first', provider: { baseUrl: model.baseUrl }, ...look };
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process, { hasGaps: true });
    const session = await client.create(settings);
    await session.send('One');
    const { requestId } = (await session.next('external_tool.requested')).data;
    await session.call('session.model.switchTo', { modelId: 'other' });
    await process.signal('SIGKILL');
    const { model: _, ...plain } = settings;
    const again = await runtime.client.resume(session.sessionId, { ...plain, continuePendingWork: true });
    await again.answerTool(requestId, { result: 'a tree' });
    await again.next('session.idle');
    await again.turn('Two');
    expect(models(model)).toEqual(['first', 'first', 'other']);
  });
});

test('the name that a provider has for its model is the name of that model alone', async () => {
  const model = runtime.script(say('a'), say('b'), say('c'));
  const provider = { baseUrl: model.baseUrl, wireModel: 'deployment-1' };
  const session = await runtime.client.create({ model: 'first', provider });
  await session.turn('One');
  for (const modelId of ['other', 'first']) {
    await session.call('session.model.switchTo', { modelId });
    await session.turn('Again');
  }
  expect(models(model)).toEqual(['deployment-1', 'other', 'deployment-1']);
});

describe('headers of a prompt that joins a turn', () => {
  const given = { 'x-turn': '1', 'x-both': 'turn' };
  const joining = { 'x-joined': '1', 'x-both': 'joined' };
  test.each([
    [
      'merge',
      [
        ['1', 'turn', undefined],
        ['1', 'joined', '1'],
      ],
    ],
    [
      'override',
      [
        ['1', 'turn', undefined],
        [undefined, 'joined', '1'],
      ],
    ],
  ])('that says %s count for its calls from then on, and for none after it', async (strategy, expected) => {
    const { session, model } = await runtime.session([lookAround, say('one'), say('two')], look);
    await session.send('One', { requestHeaders: given, headerMergeStrategy: 'merge' });
    const { requestId } = (await session.next('external_tool.requested')).data;
    await session.send('Now', { mode: 'immediate', requestHeaders: joining, headerMergeStrategy: strategy });
    await session.answerTool(requestId, { result: 'a tree' });
    await session.next('session.idle');
    await session.turn('Two');
    const names = ['x-turn', 'x-both', 'x-joined'] as const;
    expect(model.requests.map(({ headers }) => names.map((name) => headers[name]))).toEqual([
      ...expected,
      [undefined, undefined, undefined],
    ]);
  });
});

describe('a model that is rate limited', () => {
  const limited: ScriptedReply = {
    type: 'status',
    status: 429,
    body: JSON.stringify({ error: { message: 'weekly', code: 'user_weekly_rate_limited' } }),
    headers: { 'retry-after': '90000' },
  };
  const asks = { requestAutoModeSwitch: true };

  async function copilotClient(model: ScriptedModel): Promise<WireClient> {
    const environment = { COPILOT_API_URL: model.baseUrl, GH_TOKEN: 'token-1' };
    return runtime.connect(runtime.spawn({ flags: ['--stdio'], environment }));
  }

  /** A session whose client answers so, or fails to. */
  async function sessionWith(answer: string | undefined, ...replies: readonly ScriptedReply[]) {
    const model = runtime.script(...replies);
    const client = await copilotClient(model);
    const questions: unknown[] = [];
    client.answer = async (method, params) => {
      if (method === 'autoModeSwitch.request') questions.push(params);
      if (answer === undefined) throw new Error('no client there');
      return { response: answer };
    };
    return { session: await client.create(asks), model, questions };
  }

  test('is asked about, and another one answers in its place', async () => {
    const { session, model, questions } = await sessionWith('yes', limited, say('one'), say('two'), limited);
    await session.turn('One');
    await session.turn('Two');
    expect(questions).toEqual([
      {
        sessionId: session.sessionId,
        errorCode: 'user_weekly_rate_limited',
        retryAfterSeconds: 90_000,
      },
    ]);
    expect(models(model)).toEqual(['first-model', 'second-model', 'second-model']);
    expect(received(session)).toEqual([
      'session.model_change first-model startup',
      'user.message "One" idle 0',
      'auto_mode_switch.requested~',
      'session.model_change auto automatic',
      'auto_mode_switch.completed~',
      'assistant.message "one"',
      'session.idle~',
      'user.message "Two" idle 0',
      'assistant.message "two"',
      'session.idle~',
    ]);
    const stored = await session.stored();
    expect(stored.filter(({ type }) => /info|model_change/.test(type)).map(({ data }) => data)).toEqual([
      { newModel: 'first-model', source: 'startup' },
      { infoType: 'auto_mode_switch', message: 'Rate limited. Switching to auto mode to continue.' },
      {
        newModel: 'auto',
        previousModel: 'first-model',
        reasoningEffort: null,
        contextTier: null,
        source: 'automatic',
        cause: 'rate_limit_auto_switch',
      },
    ]);
    const [failed] = (await session.turn('Three')).filter(({ type }) => type === 'session.error');
    expect(failed?.data).toMatchObject({ errorType: 'rate_limit', errorCode: 'user_weekly_rate_limited' });
    expect(questions).toHaveLength(1);
  });

  test.each(['no', undefined, 'perhaps'])('ends its turn when %s is answered', async (answer) => {
    const { session, model } = await sessionWith(answer, limited, say('next'));
    await session.turn('One');
    expect(received(session).slice(1)).toEqual([
      'user.message "One" idle 0',
      'auto_mode_switch.requested~',
      'auto_mode_switch.completed~',
      expect.stringMatching(/^session\.error/),
      'session.idle~',
    ]);
    await session.turn('Two');
    expect(models(model)).toEqual(['first-model', 'first-model']);
  });

  test.each([
    ['yes', ['first-model', 'second-model'], 'assistant.message "one"'],
    ['no', ['first-model', 'first-model'], 'assistant.message "one"'],
  ])('is asked about again after kill -9, under the same id, and %s counts', async (response, asked, end) => {
    const model = runtime.script(limited, say('one'));
    const environment = { COPILOT_API_URL: model.baseUrl, GH_TOKEN: 'token-1' };
    const process = runtime.spawn({ flags: ['--stdio'], environment });
    const client = await runtime.connect(process);
    client.answer = () => new Promise(() => undefined);
    const before = await client.create(asks);
    await before.send('One');
    const { data } = await before.next('auto_mode_switch.requested');
    await process.signal('SIGKILL');
    const next = await copilotClient(model);
    next.answer = () => new Promise(() => undefined);
    const after = await next.resume(before.sessionId, { ...asks, continuePendingWork: true });
    expect((await after.next('auto_mode_switch.requested')).data).toEqual(data);
    const { requestId } = data;
    expect(await after.call('session.questions.pending')).toEqual({
      items: [{ kind: 'auto_mode_switch', requestId, toolCallId: '', data }],
    });
    const answer = () => after.call('session.ui.handlePendingAutoModeSwitch', { requestId, response });
    expect([await answer(), await answer()]).toEqual([{ success: true }, { success: false }]);
    await after.next('session.idle');
    expect(models(model)).toEqual(asked);
    expect(received(after)).toContain(end);
  });

  test('is not asked about again when the answer is always', async () => {
    const { session, model, questions } = await sessionWith(
      'yes_always',
      limited,
      say('a'),
      limited,
      say('b'),
    );
    await session.turn('One');
    await session.call('session.model.switchTo', { modelId: 'first-model' });
    await session.turn('Two');
    expect(models(model)).toEqual(['first-model', 'second-model', 'first-model', 'second-model']);
    expect(questions).toHaveLength(1);
    expect(received(session).filter((line) => line.startsWith('auto_mode'))).toHaveLength(2);
  });

  test('may be answered for by a method, once, and is waited for aloud', async () => {
    const model = runtime.script(limited, say('one'));
    const client = await copilotClient(model);
    client.answer = () => new Promise(() => undefined);
    const session = await client.create(asks);
    await session.send('One');
    const { requestId } = (await session.next('auto_mode_switch.requested')).data;
    expect(await session.call('session.metadata.activity')).toMatchObject({
      waitingOn: [{ kind: 'auto_mode_switch', requestId }],
    });
    const answer = (id: string) =>
      session.call('session.ui.handlePendingAutoModeSwitch', { requestId: id, response: 'yes' });
    expect(await answer('none')).toEqual({ success: false });
    expect(await answer(requestId)).toEqual({ success: true });
    expect(await answer(requestId)).toEqual({ success: false });
    await session.next('session.idle');
    expect(models(model)).toEqual(['first-model', 'second-model']);
  });

  test('a direct handler answers the event, and clients are sent the request again when it has gone', async () => {
    const model = runtime.script(limited, say('one'), limited, say('two'));
    const client = await copilotClient(model);
    const requests: string[] = [];
    client.answer = async (method) => {
      requests.push(method);
      return { response: 'yes' };
    };
    const session = await client.create(asks);
    const { handle } = await session.call('session.ui.registerDirectAutoModeSwitchHandler');
    await session.send('One');
    const { requestId } = (await session.next('auto_mode_switch.requested')).data;
    expect(
      await session.call('session.ui.handlePendingAutoModeSwitch', { requestId, response: 'yes' }),
    ).toEqual({
      success: true,
    });
    await session.next('session.idle');
    expect(requests).toEqual([]);
    await session.call('session.model.switchTo', { modelId: 'first-model' });
    await session.send('Two');
    await session.next('auto_mode_switch.requested');
    const release = (given: unknown) =>
      session.call('session.ui.unregisterDirectAutoModeSwitchHandler', { handle: given });
    expect(await release('none')).toEqual({ unregistered: false });
    expect(await release(handle)).toEqual({ unregistered: true });
    expect(await release(handle)).toEqual({ unregistered: false });
    await session.next('session.idle');
    expect(requests).toEqual(['autoModeSwitch.request']);
  });

  test('a direct handler alone is asked, and ends with its client', async () => {
    const model = runtime.script(limited, say('one'), limited);
    const environment = { COPILOT_API_URL: model.baseUrl, GH_TOKEN: 'token-1' };
    const process = runtime.spawn({ flags: ['--port', '0'], environment });
    const session = await (await runtime.connect(process)).create({});
    const visitor = await runtime.connect(process);
    const guest = await visitor.resume(session.sessionId);
    await guest.call('session.ui.registerDirectAutoModeSwitchHandler');
    await session.send('One');
    const { requestId } = (await session.next('auto_mode_switch.requested')).data;
    await guest.call('session.ui.handlePendingAutoModeSwitch', { requestId, response: 'yes' });
    await session.next('session.idle');
    await visitor.close();
    await session.call('session.model.switchTo', { modelId: 'first-model' });
    const events = await session.turn('Two');
    expect(events.some(({ type }) => type === 'auto_mode_switch.requested')).toBe(false);
  });

  test('is not asked about where no client wants the question, nor where no other model is', async () => {
    const model = runtime.script(limited);
    const quiet = await (await copilotClient(model)).create({});
    const own = await runtime.client.create({
      ...asks,
      model: 'm',
      provider: { baseUrl: runtime.script(limited).baseUrl },
    });
    for (const session of [quiet, own]) {
      const events = await session.turn('One');
      expect(events.find(({ type }) => type === 'session.error')?.data).toMatchObject({
        errorType: 'rate_limit',
        eligibleForAutoSwitch: true,
      });
      expect(events.some(({ type }) => type === 'auto_mode_switch.requested')).toBe(false);
    }
  });

  test('can be given up while the user thinks', async () => {
    const model = runtime.script(limited);
    const client = await copilotClient(model);
    client.answer = () => new Promise(() => undefined);
    const session = await client.create(asks);
    await session.send('One');
    await session.next('auto_mode_switch.requested');
    await session.call('session.abort');
    expect((await session.next('session.idle')).data).toMatchObject({ aborted: true });
  });
});
