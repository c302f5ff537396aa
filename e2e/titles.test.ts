import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  hold,
  liveRuntime,
  providerOf,
  refuse,
  type ScriptedModel,
  say,
  temporaryDirectory,
} from '@groundcrew/testkit';
import { afterAll, describe, expect, test } from 'vitest';

const runtime = liveRuntime();
const homes: ReturnType<typeof temporaryDirectory>[] = [];

afterAll(() => {
  for (const home of homes) home.remove();
});

const byModel = { titles: 'model' };
const prompt = 'Please look why the tests of the parser fail on Windows';

/** A client of a runtime whose operator named this model, and more. */
async function clientOf(model: ScriptedModel, settings: object = {}) {
  const home = temporaryDirectory();
  homes.push(home);
  const config = { model: 'named', provider: { baseUrl: model.baseUrl }, ...settings };
  writeFileSync(join(home.path, 'config.json'), JSON.stringify(config), { mode: 0o600 });
  const spawn = () => runtime.spawn({ flags: ['--stdio'], home: home.path });
  const process = spawn();
  return { client: await runtime.connect(process), process, spawn };
}

describe('a session whose service the operator named', () => {
  test('is titled by its model once it is idle, and keeps the title', async () => {
    const model = runtime.script(say('I look at it.'), say('**"Parser tests on Windows."**\nbecause …'));
    const { client, process, spawn } = await clientOf(model);
    const session = await client.create();
    await session.turn(prompt);
    expect(await session.call('session.name.get')).toEqual({ name: prompt });
    const { data } = await session.next('session.title_changed');
    expect(data).toEqual({ title: 'Parser tests on Windows' });
    expect(model.requests).toHaveLength(2);
    const { tools, messages } = model.requests[1]?.body ?? {};
    expect([tools, messages?.map(({ role }) => role)]).toEqual([undefined, ['system', 'user']]);
    expect(String(messages?.[1]?.content)).toContain(
      `<prompt>\n${prompt}\n</prompt>\n<answer>\nI look at it.`,
    );
    expect(await session.call('session.name.get')).toEqual({ name: 'Parser tests on Windows' });
    expect(await session.call('session.usage.getMetrics')).toMatchObject({
      modelMetrics: { named: { requests: { count: 2 } } },
    });
    await process.signal('SIGKILL');
    const next = await runtime.connect(spawn());
    expect(await next.call('session.list')).toMatchObject({
      sessions: [{ sessionId: session.sessionId, summary: 'Parser tests on Windows' }],
    });
  });

  test('keeps its first prompt where the operator or the client wants that, and a name that a user gave', async () => {
    const quiet = runtime.script(say('a'));
    const { client: asTold } = await clientOf(quiet, { titles: 'prompt' });
    const untitled = await asTold.create();
    await untitled.turn('Hello');

    const model = runtime.script(say('a'), say('b'), say('c'), say('The third'));
    const { client } = await clientOf(model);
    const byPrompt = await client.create({ titles: 'prompt' });
    await byPrompt.turn('One');
    const named = await client.create();
    await named.turn('Two');
    await named.call('session.name.set', { name: 'Mine' });
    const last = await client.create();
    await last.turn('Three');
    await last.next('session.title_changed');
    const names = [untitled, byPrompt, named, last].map((each) => each.call('session.name.get'));
    expect(await Promise.all(names)).toEqual([
      { name: 'Hello' },
      { name: 'One' },
      { name: 'Mine' },
      { name: 'The third' },
    ]);
    expect([quiet.requests.length, model.requests.length]).toEqual([1, 4]);
  });
});

test('a session whose client brings the service is titled by its model only if the client asks for it', async () => {
  const plain = await runtime.session([say('a')]);
  await plain.session.turn('Hello');
  const asked = await runtime.session([say('a'), say('A greeting')], byModel);
  await asked.session.turn('Hello');
  await asked.session.next('session.title_changed', ({ data }) => data.title === 'A greeting');
  expect([plain.model.requests.length, asked.model.requests.length]).toEqual([1, 2]);
  expect(await plain.session.call('session.name.get')).toEqual({ name: 'Hello' });
});

test('a prompt goes first: the title is made after its turn', async () => {
  const held = hold(say('too late'));
  const { session, model } = await runtime.session(
    [say('one'), held.reply, say('two'), say('A short talk')],
    byModel,
  );
  await session.turn('First');
  await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(2);
  const { waitingOn } = await session.call<{ waitingOn?: unknown }>('session.metadata.activity');
  expect(waitingOn).toEqual([]);
  await session.turn('Second');
  held.release();
  await session.next('session.title_changed', ({ data }) => data.title === 'A short talk');
  expect(model.requests[2]?.body.messages.map(({ role }) => role)).toEqual([
    'system',
    'user',
    'assistant',
    'user',
  ]);
  expect(await session.call('session.name.get')).toEqual({ name: 'A short talk' });
});

test('a title that cannot be had is no error of the session, and is not asked for again', async () => {
  const { session, model } = await runtime.session(
    [say('one'), refuse(503, 'Overloaded'), say('two'), say('three')],
    byModel,
  );
  await session.turn('First');
  await session.next('model.call_failure');
  await session.turn('Second');
  const other = await runtime.session([say('a'), say('Another')], byModel);
  await other.session.turn('Hello');
  await other.session.next('session.title_changed', ({ data }) => data.title === 'Another');
  expect(model.requests).toHaveLength(3);
  expect(await session.call('session.name.get')).toEqual({ name: 'First' });
  expect(session.events.filter(({ type }) => type === 'session.error' || type === 'session.info')).toEqual(
    [],
  );
});

test('a title counts against the limits of a session, and no user is asked for more', async () => {
  const limits = (maxCalls: number) => ({ ...byModel, sessionLimits: { maxCalls } });
  const spent = await runtime.session([say('a')], limits(1));
  await spent.session.turn('Hello');
  const roomy = await runtime.session([say('a'), say('Room for two')], limits(2));
  await roomy.session.turn('Hello');
  await roomy.session.next('session.title_changed', ({ data }) => data.title === 'Room for two');
  expect([spent.model.requests.length, roomy.model.requests.length]).toEqual([1, 2]);
  expect(spent.session.events.map(({ type }) => type)).not.toContain('session_limits_exhausted.requested');
  await roomy.session.send('More');
  const { data } = await roomy.session.next('session_limits_exhausted.requested');
  expect(data).toMatchObject({ limit: 'maxCalls', max: 2, used: 2 });
  await roomy.session.call('session.abort', {});
});

test('a title is one short line whatever the model wrote', async () => {
  const { session } = await runtime.session(
    [say('one'), say(`\n\n## Title: "Evil \u001b[31mred\u202e ${'long '.repeat(100)}"\n\nmore`)],
    byModel,
  );
  await session.turn('First');
  const { data } = await session.next('session.title_changed', ({ data }) => data.title !== 'First');
  expect(data.title).toBe(`Evil [31mred ${'long '.repeat(14)}`.slice(0, 80).trim());
});

test('a title that shows nothing is none, and one of a megabyte delays no client', async () => {
  const unseen = '\u200b\u2060\u00ad\u{e0041}\u061c\ufeff';
  const blank = await runtime.session([say('one'), say(`"${unseen}"`), say('two')], byModel);
  await blank.session.turn('First');
  const long = await runtime.session([say('one'), say(`Start${'* '.repeat(500_000)}end`)], byModel);
  await long.session.turn('Second');
  const { data } = await long.session.next(
    'session.title_changed',
    ({ data: { title } }) => title !== 'Second',
  );
  expect(data.title.length).toBeLessThanOrEqual(80);
  await expect.poll(() => blank.model.requests.length, { timeout: 20_000 }).toBe(2);
  await blank.session.turn('Again');
  expect(await blank.session.call('session.name.get')).toEqual({ name: 'First' });
});

test('a title that is being made when its client leaves harms nothing of the next one', async () => {
  const title = hold(say('Of nobody'));
  const second = hold(say('two'));
  const model = runtime.script(say('one'), title.reply, second.reply, say('Of the next'));
  const process = runtime.spawn({ flags: ['--port', '0'] });
  const first = await runtime.connect(process, { hasGaps: true });
  const { sessionId } = await first.create({ ...providerOf(model), ...byModel }).then(async (session) => {
    await session.turn('First');
    await expect.poll(() => model.requests.length, { timeout: 20_000 }).toBe(2);
    return session;
  });
  await first.close();
  const client = await runtime.connect(process, { hasGaps: true });
  for (let asked = 0; asked < 20; asked += 1) await client.call('ping', {});
  const next = await client.resume(sessionId, { ...providerOf(model), ...byModel });
  await next.send('Second');
  await model.asked(3);
  title.release();
  // Each answer is later than the one before: what the title brought about has been done by then.
  for (let asked = 0; asked < 50; asked += 1)
    expect(await next.call('session.metadata.activity')).toMatchObject({ hasActiveWork: true });
  second.release();
  const { data } = await next.next('session.idle');
  expect(data).toEqual({});
  expect(next.events.filter(({ type }) => type === 'session.error')).toEqual([]);
  await next.next('session.title_changed', (event) => event.data.title === 'Of the next');
});

test('the offline model titles nothing, whatever the client asks', async () => {
  const session = await runtime.client.create(byModel);
  await session.turn('Say hello');
  const other = await runtime.session([say('a'), say('Another')], byModel);
  await other.session.turn('Hello');
  await other.session.next('session.title_changed', ({ data }) => data.title === 'Another');
  expect(await session.call('session.name.get')).toEqual({ name: 'Say hello' });
});

test('a client that wants titles of an unknown kind gets a clear error', async () => {
  const { message } = await runtime.client.failure('session.create', { ...byModel, titles: 'somebody' });
  expect(message).toContain('titles');
});
