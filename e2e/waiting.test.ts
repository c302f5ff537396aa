import { callTools, hold, liveRuntime, refuse, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();
const since = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);

interface Activity {
  readonly hasActiveWork: boolean;
  readonly waitingOn: readonly Record<string, unknown>[];
}

test('a session says that it waits for the model, and which prompts wait behind', async () => {
  const { reply, release } = hold();
  const { session, model } = await runtime.session([reply, say('two')]);
  expect(await session.call<Activity>('session.metadata.activity')).toMatchObject({ waitingOn: [] });
  await session.send('One');
  await model.asked(1);
  await session.send('Two');
  expect(await session.call('session.metadata.activity')).toEqual({
    abortable: true,
    hasActiveWork: true,
    waitingOn: [
      { kind: 'model', since, model: 'scripted', attempt: 1 },
      { kind: 'queue', since, prompts: 1 },
    ],
  });
  expect(await session.call('session.metadata.snapshot')).toMatchObject({
    waitingOn: [{ kind: 'model' }, { kind: 'queue' }],
  });
  release();
  await session.next('session.idle');
  expect(await session.call('session.metadata.activity')).toEqual({
    abortable: false,
    hasActiveWork: false,
    waitingOn: [],
  });
});

test('between two attempts it says when the next one comes, and why', async () => {
  const { session } = await runtime.session([refuse(503, 'busy', { 'retry-after': '30' }), say('never')]);
  await session.send('Hello');
  const { data } = await session.next('session.info', (event) => event.data.infoType === 'model_retry');
  expect(data.message).toBe(
    'The model service failed (503 busy). Trying again in 30 s, as it asks to; this was attempt 1.',
  );
  const { waitingOn } = await session.call<Activity>('session.metadata.activity');
  expect(waitingOn).toEqual([
    { kind: 'retry', since, model: 'scripted', attempt: 2, at: since, reason: 'busy' },
  ]);
  const [wait] = waitingOn;
  const delay = Date.parse(String(wait?.at)) - Date.parse(String(wait?.since));
  expect(Math.abs(delay - 30_000)).toBeLessThan(1000);
  await session.call('session.abort');
  await session.next('session.idle');
  expect(await session.call<Activity>('session.metadata.activity')).toMatchObject({ waitingOn: [] });
});

test('it says which permission, which tool and which question it waits for', async () => {
  const tools = [{ name: 'look' }, { name: 'wave', skipPermission: true }];
  const calls = callTools(
    { id: 'c1', name: 'look', arguments: {} },
    { id: 'c2', name: 'wave', arguments: {} },
    { id: 'c3', name: 'ask_user', arguments: { question: 'Which?' } },
  );
  const { session } = await runtime.session([calls, say('done')], { tools, requestUserInput: true });
  runtime.client.answer = () => new Promise(() => undefined);
  await session.send('Go');
  const run = await session.next('external_tool.requested');
  const question = await session.next('user_input.requested');
  const asked = await session.next('permission.requested');
  const { waitingOn } = await session.call<Activity>('session.metadata.activity');
  expect(new Set(waitingOn)).toEqual(
    new Set([
      { kind: 'permission', since, requestId: asked.data.requestId },
      { kind: 'tool', since, toolCallId: run.data.toolCallId, toolName: 'wave' },
      { kind: 'user_input', since, requestId: question.data.requestId },
    ]),
  );
  await session.decide(asked.data.requestId, { kind: 'approve-once' });
  await session.next('external_tool.requested', ({ data }) => data.toolCallId === 'c1');
  const later = await session.call<Activity>('session.metadata.activity');
  expect(later.waitingOn.map(({ kind, toolName }) => toolName ?? kind).sort()).toEqual([
    'look',
    'user_input',
    'wave',
  ]);
  await session.call('session.abort');
  await session.next('session.idle');
});
