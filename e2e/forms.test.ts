import { liveRuntime, type WireClient } from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const shows = { requestElicitation: true };
const form = {
  message: 'Who are you?',
  requestedSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', title: 'Name', minLength: 2, maxLength: 5 },
      mail: { type: 'string', format: 'email' },
      page: { type: 'string', format: 'uri' },
      born: { type: 'string', format: 'date' },
      seen: { type: 'string', format: 'date-time' },
      age: { type: 'integer', minimum: 0, maximum: 150 },
      size: { type: 'number', default: 1.5 },
      agrees: { type: 'boolean', default: false },
      colour: { type: 'string', enum: ['r', 'g'], enumNames: ['Red', 'Green'], default: 'r' },
      shape: { type: 'string', oneOf: [{ const: 'o', title: 'Circle' }] },
      pets: { type: 'array', items: { type: 'string', enum: ['cat', 'dog', 'cow'] }, maxItems: 2 },
      toys: { type: 'array', items: { anyOf: [{ const: 'b', title: 'Ball' }] } },
    },
    required: ['name', 'size'],
  },
};
const defaults = { size: 1.5, agrees: false, colour: 'r' };

/** A client of another process on the same home. */
async function other() {
  const process = runtime.spawn({ flags: ['--stdio'] });
  return { process, client: await runtime.connect(process) };
}

/** A session with this form open, and who waits for it. */
async function asking(client: WireClient, asked: object = form) {
  const session = await client.create(shows);
  const answered = session.failure('session.ui.elicitation', asked);
  const { data } = await session.next('elicitation.requested');
  const answer = (result: object, requestId = data.requestId) =>
    session.failure('session.ui.handlePendingElicitation', { requestId, result });
  return { session, answered, asked: data, answer };
}

const accept = (content: object) => ({ action: 'accept', content });
const taken = { result: { success: true } };
const late = { result: { success: false } };

describe('a form of an app', () => {
  test('is shown as it is, answered by the first answer, and later ones come too late', async () => {
    const { session, answered, asked, answer } = await asking(runtime.client);
    expect(asked).toEqual({ ...form, requestId: asked.requestId, mode: 'form' });
    expect(await session.call('session.questions.pending')).toEqual({
      items: [{ kind: 'elicitation', requestId: asked.requestId, toolCallId: '', data: asked }],
    });
    expect(await answer(accept({ name: 'Ada' }))).toEqual(taken);
    expect(await answer(accept({ name: 'Bob' }))).toEqual(late);
    const content = { name: 'Ada', ...defaults };
    expect(await answered).toEqual({ result: { action: 'accept', content } });
    expect((await session.next('elicitation.completed')).data).toEqual({
      requestId: asked.requestId,
      action: 'accept',
      content,
    });
    expect(await session.call('session.questions.pending')).toEqual({ items: [] });
  });

  test.each([
    ['content.name', {}, 'is required'],
    ['content.name', { name: 1 }, 'must be a string'],
    ['content.name', { name: 'A' }, 'must be at least 2 characters'],
    ['content.name', { name: 'Adelaide' }, 'must be at most 5 characters'],
    ['content.mail', { name: 'Ada', mail: 'ada' }, 'must be a valid email'],
    ['content.page', { name: 'Ada', page: 'no page' }, 'must be a valid uri'],
    ['content.born', { name: 'Ada', born: '1815-02-30' }, 'must be a valid date'],
    ['content.seen', { name: 'Ada', seen: '1815-12-10 10:00' }, 'must be a valid date-time'],
    ['content.age', { name: 'Ada', age: 1.5 }, 'must be an integer'],
    ['content.age', { name: 'Ada', age: 151 }, 'must be at most 150'],
    ['content.age', { name: 'Ada', age: -1 }, 'must be at least 0'],
    ['content.size', { name: 'Ada', size: '1' }, 'must be a number'],
    ['content.agrees', { name: 'Ada', agrees: 'yes' }, 'must be true or false'],
    ['content.colour', { name: 'Ada', colour: 'Red' }, 'must be one of "r", "g"'],
    ['content.shape', { name: 'Ada', shape: 'x' }, 'must be one of "o"'],
    ['content.pets', { name: 'Ada', pets: 'cat' }, 'must be a list'],
    ['content.pets', { name: 'Ada', pets: ['fox'] }, 'must have only "cat", "dog", "cow"'],
    ['content.pets', { name: 'Ada', pets: ['cat', 'cat'] }, 'must have each choice once'],
    ['content.pets', { name: 'Ada', pets: ['cat', 'dog', 'cow'] }, 'must be at most 2 choices'],
    ['content.toys', { name: 'Ada', toys: [1] }, 'must have only "b"'],
    ['content.other', { name: 'Ada', other: 1 }, 'is no field of the form'],
  ])('refuses what does not fit %s, and stays open', async (path, content, problem) => {
    const { answered, answer } = await asking(runtime.client);
    expect(await answer(accept(content))).toEqual({
      code: -32603,
      message: `Request session.ui.handlePendingElicitation failed with message: ${path}: ${problem}`,
      data: { code: 'answer_unfit', retryable: false },
    });
    expect(await answer({ action: 'decline', content })).toEqual(taken);
    expect(await answered).toEqual({ result: { action: 'decline' } });
  });

  test('takes every kind of value that fits', async () => {
    const content = {
      name: 'Ada',
      mail: 'ada@example.org',
      page: 'https://example.org/a?b',
      born: '1815-12-10',
      seen: '1815-12-10T10:00:00.5+01:00',
      age: 36,
      size: -0.5,
      agrees: true,
      colour: 'g',
      shape: 'o',
      pets: ['dog', 'cat'],
      toys: [],
    };
    const { answered, answer } = await asking(runtime.client);
    expect(await answer(accept(content))).toEqual(taken);
    expect(await answered).toEqual({ result: { action: 'accept', content } });
  });

  test.each([
    ['requestedSchema.properties.a', { type: 'object', properties: { a: { type: 'object' } } }],
    ['requestedSchema.properties.a', { type: 'object', properties: { a: { type: 'string', enum: [1] } } }],
    ['requestedSchema.properties.a.items', { type: 'object', properties: { a: { type: 'array' } } }],
    [
      'requestedSchema.properties.a.default',
      { type: 'object', properties: { a: { type: 'integer', default: 'x' } } },
    ],
    ['requestedSchema.required', { type: 'object', properties: {}, required: ['a'] }],
  ])('that cannot be shown is refused with its path %s', async (path, requestedSchema) => {
    const session = await runtime.client.create(shows);
    const refused = await session.failure('session.ui.elicitation', { message: 'x', requestedSchema });
    expect(refused.message).toContain(`failed with message: ${path}: `);
    expect(await session.call('session.questions.pending')).toEqual({ items: [] });
  });

  test('is taken back when the one who asked has left', async () => {
    const asker = await runtime.connect();
    const session = await runtime.client.create(shows);
    await asker.resume(session.sessionId, {});
    void asker.failure('session.ui.elicitation', { sessionId: session.sessionId, ...form });
    const { requestId } = (await session.next('elicitation.requested')).data;
    await asker.close();
    expect((await session.next('elicitation.completed')).data).toEqual({ requestId, action: 'cancel' });
    expect(await session.call('session.questions.pending')).toEqual({ items: [] });
  });
});

describe('a page to visit', () => {
  test('is shown by its address, and accepted without content', async () => {
    const page = { mode: 'url', message: 'Log in', url: 'https://example.org/login?state=1' };
    const { answered, asked, answer } = await asking(runtime.client, page);
    expect(asked).toEqual({ ...page, requestId: asked.requestId });
    expect(await answer(accept({ ignored: 1 }))).toEqual(taken);
    expect(await answered).toEqual({ result: { action: 'accept' } });
  });

  test.each([undefined, 'javascript:alert(1)', 'file:///etc/passwd', 'https://a:b@example.org'])(
    'is refused at %s',
    async (url) => {
      const session = await runtime.client.create(shows);
      const refused = await session.failure('session.ui.elicitation', { mode: 'url', message: 'x', url });
      expect(refused.message).toContain('failed with message: url: must');
    },
  );
});

describe('a form that was open when the process was killed', () => {
  async function killed() {
    const { process, client } = await other();
    const { session, asked } = await asking(client);
    await session.call('session.log', { message: 'a session that is kept' });
    await process.signal('SIGKILL');
    return { sessionId: session.sessionId, asked };
  }

  test('is asked again under its id, and the app that asks again waits for the same question', async () => {
    const { sessionId, asked } = await killed();
    const session = await runtime.client.resume(sessionId, { ...shows, continuePendingWork: true });
    expect((await session.next('elicitation.requested')).data).toEqual(asked);
    const answered = session.call('session.ui.elicitation', form);
    expect((await session.next('elicitation.requested')).data).toEqual(asked);
    const { requestId } = asked;
    const pending = await session.call<{ items: unknown[] }>('session.questions.pending');
    expect(pending.items).toHaveLength(1);
    expect(
      await session.call('session.ui.handlePendingElicitation', {
        requestId,
        result: accept({ name: 'Ada' }),
      }),
    ).toEqual({ success: true });
    expect(await answered).toEqual({ action: 'accept', content: { name: 'Ada', ...defaults } });
  });

  test('can be answered although no turn waits for it, once', async () => {
    const { sessionId, asked } = await killed();
    const session = await runtime.client.resume(sessionId, { ...shows, continuePendingWork: true });
    const { requestId } = asked;
    const answer = () =>
      session.failure('session.ui.handlePendingElicitation', { requestId, result: { action: 'decline' } });
    expect(await answer()).toEqual(taken);
    expect(await answer()).toEqual(late);
    expect((await session.next('elicitation.completed')).data).toEqual({ requestId, action: 'decline' });
  });

  test('is closed by a client that does not continue', async () => {
    const { sessionId, asked } = await killed();
    const session = await runtime.client.resume(sessionId, shows);
    expect(await session.call('session.questions.pending')).toEqual({ items: [] });
    const { requestId } = asked;
    expect(
      await session.failure('session.ui.handlePendingElicitation', {
        requestId,
        result: { action: 'decline' },
      }),
    ).toEqual(late);
  });
});
