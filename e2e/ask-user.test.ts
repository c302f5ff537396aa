import { Client, RuntimeConnection, type UserInputHandler } from '@groundcrew/sdk';
import {
  callTools,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  say,
  story,
  type WireClient,
} from '@groundcrew/testkit';
import { afterEach, describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const clients: Client[] = [];
/** What handlers of apps threw. */
const failures: string[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.stop();
});

const asks = { requestUserInput: true };
const question = { question: 'Which one?', choices: ['Red', 'Blue'] };
const ask = (args: object = question) => callTools({ id: 'c1', name: 'ask_user', arguments: args });
const answers = (model: ScriptedModel) =>
  model.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'tool' ? [content] : []));
const noUser =
  'The user could not be asked: no client answers questions here. Decide as you think best, and say what you assumed.';

/** A second connection to the same runtime, which answers no question by itself. */
async function silentClient(): Promise<WireClient> {
  const client = await runtime.connect();
  client.answer = () => new Promise(() => undefined);
  return client;
}

/** What the runtime asks a client, in order, with the signals that say when it is over. */
class Asked {
  readonly requests: { readonly method: string; readonly params: unknown; readonly signal: AbortSignal }[] =
    [];
  private wake: () => void = () => undefined;

  constructor(client: WireClient, reply: (nth: number) => Promise<unknown>) {
    client.answer = (method, params, signal) => {
      this.requests.push({ method, params, signal });
      this.wake();
      return reply(this.requests.length);
    };
  }

  get areOver(): readonly boolean[] {
    return this.requests.map(({ signal }) => signal.aborted);
  }

  /** Resolves when so many requests have come. */
  async until(count: number): Promise<void> {
    while (this.requests.length < count) {
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

const never = () => new Promise<never>(() => undefined);

describe('a question of the agent', () => {
  test.each([
    ['a choice', { answer: 'Red', wasFreeform: false }, 'User selected: Red'],
    ['words of one’s own', { answer: 'Green, please', wasFreeform: true }, 'User responded: Green, please'],
    ['a choice that does not say so', { answer: 'Blue' }, 'User selected: Blue'],
    ['other words that do not say so', { answer: 'Green' }, 'User responded: Green'],
  ])(
    'is put to a client by a request, after the event, and answered by %s',
    async (_how, given, received) => {
      const client = await runtime.connect();
      const asked = new Asked(client, async () => given);
      const model = runtime.script(ask(), say('done'));
      const session = await client.create({ ...providerOf(model), ...asks });
      await session.turn('Go');
      expect(asked.requests.map(({ method, params }) => ({ method, params }))).toEqual([
        {
          method: 'userInput.request',
          params: { sessionId: session.sessionId, ...question, allowFreeform: true },
        },
      ]);
      expect(answers(model)).toEqual([received]);
      const order = client.order();
      expect(order.indexOf('user_input.requested~')).toBeLessThan(order.indexOf('other'));
      expect(session.events.filter(({ type }) => type.startsWith('user_input.'))).toMatchObject([
        { ephemeral: true, data: { ...question, allowFreeform: true, toolCallId: 'c1' } },
        { ephemeral: true, data: { answer: given.answer, wasFreeform: received.includes('responded') } },
      ]);
      expect(story(await session.stored()).slice(4, 7)).toEqual([
        'tool.execution_start ask_user#c1',
        `tool.execution_complete c1 ok ${JSON.stringify(received)}`,
        'assistant.turn_end 0',
      ]);
    },
  );

  test('is answered by a method too; the first answer wins and the clients that were asked learn that it is over', async () => {
    const client = await runtime.connect();
    const asked = new Asked(client, never);
    const model = runtime.script(ask({ question: 'Why?', allow_freeform: true }), say('done'));
    const session = await client.create({ ...providerOf(model), ...asks });
    await session.send('Go');
    const { data } = await session.next('user_input.requested');
    await asked.until(1);
    const answer = (text: string) =>
      session.call('session.ui.handlePendingUserInput', {
        requestId: data.requestId,
        response: { answer: text, wasFreeform: true },
      });
    expect(await answer('Because')).toEqual({ success: true });
    expect(await answer('Late')).toEqual({ success: false });
    await session.next('session.idle');
    expect(asked.areOver).toEqual([true]);
    expect(answers(model)).toEqual(['User responded: Because']);
  });

  test('is not answered by what answers another kind of question, and a permission not by this', async () => {
    const client = await silentClient();
    const model = runtime.script(
      callTools(
        { id: 'c1', name: 'ask_user', arguments: question },
        { id: 'c2', name: 'view', arguments: { path: '.' } },
      ),
      say('done'),
    );
    const session = await client.create({ ...providerOf(model), ...asks });
    await session.send('Go');
    const { requestId } = (await session.next('user_input.requested')).data;
    const permission = (await session.next('permission.requested')).data;
    const response = { answer: 'Red', wasFreeform: false };
    expect(await session.answerTool(requestId, { result: 'Red' })).toEqual({ success: false });
    expect(await session.decide(requestId, { kind: 'approve-once' })).toEqual({ success: false });
    expect(
      await session.call('session.ui.handlePendingUserInput', { requestId: permission.requestId, response }),
    ).toEqual({ success: false });
    expect(await session.decide(permission.requestId, { kind: 'user-not-available' })).toEqual({
      success: true,
    });
    expect(await session.call('session.ui.handlePendingUserInput', { requestId, response })).toEqual({
      success: true,
    });
    await session.next('session.idle');
    expect(answers(model)?.[0]).toBe('User selected: Red');
  });

  test('is put to all who answer, those who come later included', async () => {
    const [first, second] = [await runtime.connect(), await runtime.connect()];
    const asked = new Asked(first, never);
    const model = runtime.script(ask(), say('done'));
    const session = await first.create({ ...providerOf(model), ...asks });
    await session.send('Go');
    await asked.until(1);
    new Asked(second, async () => ({ answer: 'Blue', wasFreeform: false }));
    await second.resume(session.sessionId, { ...providerOf(model), ...asks, continuePendingWork: true });
    await session.next('session.idle');
    expect(answers(model)).toEqual(['User selected: Blue']);
    expect(asked.areOver).toEqual([true]);
  });

  test('waits for the others when one fails, and fails when no client is left that could answer', async () => {
    const [first, second] = [await runtime.connect(), await runtime.connect()];
    const model = runtime.script(ask(), ask(), say('done'));
    const failing = async () => Promise.reject(new Error('secret reason'));
    const asked = new Asked(first, failing);
    const others = new Asked(second, async (nth) => (nth === 1 ? { answer: 'Red' } : { nonsense: true }));
    const session = await first.create({ ...providerOf(model), ...asks });
    await second.resume(session.sessionId, { ...providerOf(model), ...asks });
    await session.turn('Go');
    expect([asked.requests.length, others.requests.length]).toEqual([2, 2]);
    expect(answers(model)).toEqual(['User selected: Red', noUser]);
    expect(JSON.stringify(session.events)).not.toContain('secret reason');
  });

  test('is ended by an abort, and so is a suspended one', async () => {
    const client = await runtime.connect();
    const asked = new Asked(client, never);
    const model = runtime.script(ask(), ask(), say('done'));
    const session = await client.create({ ...providerOf(model), ...asks });
    await session.send('Go');
    await asked.until(1);
    await session.call('session.abort');
    await session.next('session.idle');
    await session.send('Again');
    await asked.until(2);
    await session.call('session.suspend');
    const over = await session.next('user_input.completed');
    expect(over.data).toEqual({ requestId: expect.any(String) });
    expect(asked.areOver).toEqual([true, true]);
    expect(
      await session.call('session.ui.handlePendingUserInput', {
        requestId: over.data.requestId,
        response: { answer: 'Red', wasFreeform: false },
      }),
    ).toEqual({ success: false });
  });

  test('cannot be asked where no client answers: there is no such tool', async () => {
    const { session, model } = await runtime.session([ask(), say('done')]);
    await session.turn('Go');
    expect(answers(model)?.[0]).toMatch(/^Tool 'ask_user' does not exist\./);
    const names = model.requests[0]?.body.tools?.map((tool) => tool.function.name);
    expect(names).not.toContain('ask_user');
  });

  test.each([
    [{}, 'Invalid input: "question": Required'],
    [{ question: 'Why?', choices: 'Red' }, 'Invalid input: "choices": Expected array, received string'],
    [{ question: 'Why?', choices: [1] }, 'Invalid input: "choices": Expected a list of texts'],
  ])('that makes no sense is not put to anybody: %o', async (args, received) => {
    const { session, model } = await runtime.session([ask(args), say('done')], asks);
    await session.turn('Go');
    expect(answers(model)).toEqual([received]);
    expect(session.events.some(({ type }) => type === 'user_input.requested')).toBe(false);
  });
});

describe('a question outlives its process', () => {
  async function killedWhileAsking() {
    const process = runtime.spawn({ flags: ['--stdio'] });
    const client = await runtime.connect(process);
    client.answer = never;
    const model = runtime.script(ask(), say('done'));
    const before = await client.create({ ...providerOf(model), ...asks });
    await before.send('Go');
    const { data } = await before.next('user_input.requested');
    await process.signal('SIGKILL');
    return { model, sessionId: before.sessionId, data };
  }

  test('and is answered under its old id', async () => {
    const { model, sessionId, data } = await killedWhileAsking();
    const client = await silentClient();
    const after = await client.resume(sessionId, {
      ...providerOf(model),
      ...asks,
      continuePendingWork: true,
    });
    expect(await after.call('session.questions.pending')).toEqual({
      items: [{ kind: 'user_input', requestId: data.requestId, toolCallId: 'c1', data }],
    });
    const response = { answer: 'Red', wasFreeform: false };
    expect(
      await after.call('session.ui.handlePendingUserInput', { requestId: data.requestId, response }),
    ).toEqual({ success: true });
    await after.next('session.idle');
    expect(answers(model)).toEqual(['User selected: Red']);
  });

  test('and is put to the handler of the client that resumes', async () => {
    const { model, sessionId } = await killedWhileAsking();
    const client = await runtime.connect();
    new Asked(client, async () => ({ answer: 'Blue', wasFreeform: false }));
    const after = await client.resume(sessionId, {
      ...providerOf(model),
      ...asks,
      continuePendingWork: true,
    });
    await after.next('session.idle');
    expect(answers(model)).toEqual(['User selected: Blue']);
  });

  test('and is closed when its work is not continued', async () => {
    const { model, sessionId, data } = await killedWhileAsking();
    const client = await silentClient();
    const after = await client.resume(sessionId, { ...providerOf(model), ...asks });
    const response = { answer: 'Red', wasFreeform: false };
    expect(
      await after.call('session.ui.handlePendingUserInput', { requestId: data.requestId, response }),
    ).toEqual({ success: false });
    await after.turn('Go on');
    expect(answers(model)).toEqual(['The execution of this tool, or a previous tool was interrupted.']);
  });
});

describe('an app', () => {
  async function sdkClient(): Promise<Client> {
    const client = new Client({
      connection: RuntimeConnection.forUri(`${await runtime.process.port()}`),
      onHandlerError: (failure) => failures.push(failure.error.message),
    });
    clients.push(client);
    return client;
  }

  test('answers with onUserInputRequest, and its signal fires when another client did', async () => {
    const client = await sdkClient();
    const model = runtime.script(ask(), ask({ question: 'And why?' }), say('done'));
    const seen: unknown[] = [];
    const signals: AbortSignal[] = [];
    const onUserInputRequest: UserInputHandler = (request, { sessionId }, signal) => {
      seen.push({ ...request, sessionId });
      signals.push(signal);
      return seen.length === 1 ? { answer: 'Red', wasFreeform: false } : never();
    };
    const session = await client.createSession({ ...providerOf(model), onUserInputRequest });
    const idle = new Promise<void>((resolve) => {
      session.on('session.idle', () => resolve());
    });
    session.on('user_input.requested', (event) => {
      if (event.data.question !== 'And why?') return;
      const { requestId } = event.data;
      const response = { answer: 'Because', wasFreeform: true };
      void session.call('session.ui.handlePendingUserInput', { requestId, response });
    });
    await session.send('Go');
    await idle;
    expect(answers(model)).toEqual(['User selected: Red', 'User responded: Because']);
    const { sessionId } = session;
    expect(seen[0]).toEqual({ sessionId, ...question, allowFreeform: true });
    expect(signals.slice(1).every(({ aborted }) => aborted)).toBe(true);
  });

  test('that throws leaves the model without an answer, and the reason with itself', async () => {
    const client = await sdkClient();
    const model = runtime.script(ask(), say('done'));
    const onUserInputRequest: UserInputHandler = () => Promise.reject(new Error('no idea'));
    const session = await client.createSession({ ...providerOf(model), onUserInputRequest });
    await session.sendAndWait('Go');
    expect(answers(model)).toEqual([noUser]);
    expect(failures.splice(0)).toEqual(['no idea']);
  });
});
