import {
  type AskedModel,
  callTools,
  hold,
  liveRuntime,
  providerOf,
  say,
  story,
  type WireSession,
} from '@groundcrew/testkit';
import { describe, expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const look = callTools({ id: 'c1', name: 'look', arguments: {} });
const tools = [{ name: 'look', skipPermission: true }];
const asking = [{ name: 'look' }];

/** Two clients on one session; the second brings no tools unless given some. */
async function pair(replies: Parameters<typeof runtime.session>[0], first: object, second: object = {}) {
  const model = runtime.script(...replies);
  const [one, two] = [await runtime.connect(), await runtime.connect()];
  const ours = await one.create({ ...providerOf(model), ...first });
  const theirs = await two.resume(ours.sessionId, second as Record<string, unknown>);
  await theirs.next('session.resume');
  await ours.next('session.resume');
  return { model, one, two, ours, theirs };
}

/** The tools of clients that the model was offered. */
const offered = ({ body }: AskedModel) =>
  body.tools?.map((tool) => tool.function.name).filter((name) => name === 'look' || name === 'hear');
const ids = (session: WireSession) => session.events.map(({ id }) => id);

test('every attached client receives the same events in the same order', async () => {
  const { ours, theirs } = await pair([say('a'), say('b')], {});
  await Promise.all([ours.turn('From one'), theirs.untilIdle()]);
  await Promise.all([theirs.turn('From two'), ours.untilIdle()]);
  expect(ids(theirs)).toEqual(ids(ours).slice(1));
  expect(await theirs.stored()).toEqual(await ours.stored());
});

test('both are asked for permission, and the first answer wins', async () => {
  const { ours, theirs } = await pair([look, say('seen')], { tools: asking });
  await ours.send('Look');
  const { data } = await theirs.next('permission.requested');
  const answers = await Promise.all([
    theirs.decide(data.requestId, { kind: 'approve-once' }),
    ours.decide(data.requestId, { kind: 'reject' }),
  ]);
  expect(answers.map(({ success }) => success).sort()).toEqual([false, true]);
  for (const session of [ours, theirs]) await session.next('permission.completed');
  const outcomes = [ours, theirs].map((session) =>
    story(session.events).filter((line) => line.startsWith('permission')),
  );
  expect(outcomes[0]).toEqual(outcomes[1]);
  await ours.call('session.abort');
  await ours.next('session.idle');
});

test('the tools of both are offered, and any client may answer', async () => {
  const { model, ours, theirs } = await pair(
    [look, say('seen')],
    { tools },
    { tools: [{ name: 'hear', skipPermission: true }] },
  );
  await ours.send('Look');
  const { data } = await theirs.next('external_tool.requested');
  const answers = await Promise.all([
    theirs.answerTool(data.requestId, { result: 'theirs' }),
    ours.answerTool(data.requestId, { result: 'ours' }),
  ]);
  expect(answers.map(({ success }) => success).sort()).toEqual([false, true]);
  await ours.next('session.idle');
  expect(model.requests.slice(0, 1).map(offered)).toEqual([['look', 'hear']]);
});

test('two clients cannot serve a tool of one name, and the one that tried is not attached', async () => {
  const model = runtime.script(say('a'));
  const [one, two] = [await runtime.connect(), await runtime.connect()];
  const ours = await one.create({ ...providerOf(model), tools });
  for (const method of ['session.resume', 'session.create']) {
    const systemMessage = { mode: 'replace', content: 'Hijacked.' };
    expect(await two.failure(method, { sessionId: ours.sessionId, tools, systemMessage })).toEqual({
      code: -32603,
      message: `Request ${method} failed with message: External tool name clash: look already registered by another connection`,
      data: { code: 'tool_name_taken', retryable: true },
    });
  }
  await ours.turn('Hello');
  expect(two.events(ours.sessionId)).toEqual([]);
  expect(model.requests[0]?.body.messages[0]?.content).not.toBe('Hijacked.');
  await one.resume(ours.sessionId, { tools });
});

test('the tools of a client that leaves are gone at the next model call', async () => {
  const { model, ours, theirs, two } = await pair(
    [say('a'), say('b')],
    { tools },
    { tools: [{ name: 'hear' }] },
  );
  await Promise.all([ours.turn('One'), theirs.untilIdle()]);
  await two.close();
  await ours.turn('Two');
  expect(model.requests.map(offered)).toEqual([['look', 'hear'], ['look']]);
});

test('destroy detaches one client and closes the session with the last', async () => {
  const { ours, theirs } = await pair([say('a'), say('b')], {});
  await Promise.all([ours.turn('One'), theirs.untilIdle()]);
  expect(await theirs.call('session.destroy')).toEqual({ success: true });
  const before = theirs.events.length;
  await ours.turn('Two');
  expect(theirs.events.length).toBe(before);
  expect(await ours.call('session.destroy')).toEqual({ success: true });
  const endings = story(ours.events).filter((line) => line.startsWith('session.shutdown'));
  expect(endings).toEqual(['session.shutdown routine']);
});

test('lifecycles reach every client, attached or not', async () => {
  const [one, two] = [await runtime.connect(), await runtime.connect()];
  await two.call('ping', {});
  const session = await one.create({ sessionId: 'seen-by-all' });
  const seen = (kind: string) => () =>
    two.frames.find(
      (frame) => frame.type === 'lifecycle' && frame.kind === kind && frame.sessionId === 'seen-by-all',
    );
  await two.until(seen('session.created'), 'session.created');
  await session.call('session.delete');
  await two.until(seen('session.deleted'), 'session.deleted');
  expect(
    two
      .order()
      .filter((line) => /^(lifecycle session\.(created|deleted)|session\.)/.test(line))
      .sort(),
  ).toEqual(['lifecycle session.created', 'lifecycle session.deleted']);
});

describe('when the last client drops', () => {
  test('the turn runs on to its end, and the next client finds the answer', async () => {
    const held = hold(say('finished alone'));
    const model = runtime.script(held.reply);
    const one = await runtime.connect();
    const ours = await one.create(providerOf(model));
    await ours.send('Work');
    await model.asked(1);
    await one.close();
    held.release();
    const two = await runtime.connect();
    const theirs = await two.resume(ours.sessionId, { continuePendingWork: true, ...providerOf(model) });
    const wasActive = (await theirs.next('session.resume')).data.sessionWasActive;
    if (wasActive) await theirs.next('session.idle');
    expect(story(await theirs.stored())).toContain('assistant.message "finished alone"');
    expect(story(await theirs.stored())).not.toContain('session.shutdown routine');
  });

  test('a question stays open and is answered by the client that resumes', async () => {
    const model = runtime.script(look, say('seen'));
    const one = await runtime.connect();
    const ours = await one.create({ ...providerOf(model), tools });
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    await one.close();
    const two = await runtime.connect();
    const theirs = await two.resume(ours.sessionId, { tools, continuePendingWork: true });
    expect((await theirs.next('session.resume')).data.sessionWasActive).toBe(true);
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
    expect(story(await theirs.stored()).at(-2)).toBe('assistant.message "seen"');
  });

  test('without continuePendingWork, a call whose tool is declared anew is closed', async () => {
    const model = runtime.script(look, say('again'));
    const one = await runtime.connect();
    const ours = await one.create({ ...providerOf(model), tools });
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    await one.close();
    const two = await runtime.connect();
    const theirs = await two.resume(ours.sessionId, { tools });
    expect((await theirs.next('session.resume')).data.sessionWasActive).toBe(false);
    expect(await theirs.answerTool(data.requestId, { result: 'late' })).toEqual({ success: false });
    await theirs.turn('Again');
    expect(model.requests[1]?.body.messages.findLast(({ role }) => role === 'tool')?.content).toBe(
      'The execution of this tool, or a previous tool was interrupted.',
    );
  });

  test('without continuePendingWork, a call whose tool is not declared stays answerable', async () => {
    const model = runtime.script(look, say('seen'));
    const one = await runtime.connect();
    const ours = await one.create({ ...providerOf(model), tools });
    await ours.send('Look');
    const { data } = await ours.next('external_tool.requested');
    await one.close();
    const two = await runtime.connect();
    const theirs = await two.resume(ours.sessionId, {});
    expect((await theirs.next('session.resume')).data.sessionWasActive).toBe(true);
    expect(await theirs.answerTool(data.requestId, { result: 'a tree' })).toEqual({ success: true });
    await theirs.next('session.idle');
  });
});
