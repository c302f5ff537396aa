import { callTools, inProcessRuntime, providerOf, say, story } from '@groundcrew/testkit';
import { afterEach, expect, test, vi } from 'vitest';

/** What 0.1.30 sends. */
const asking = {
  toolFilterPrecedence: null,
  requestPermission: true,
  requestUserInput: false,
  hooks: false,
  envValueMode: 'direct',
};
const limits = {
  toolRounds: 10,
  queuedPrompts: 10,
  turnMilliseconds: 24 * 60 * 60 * 1000,
  stopBlocks: 3,
  continuations: 5,
};
const tenMinutes = 10 * 60 * 1000;

afterEach(() => {
  vi.useRealTimers();
});

test('calls and permissions of a client of protocol 2 may take ten minutes each; none of its own requests waits for them', async () => {
  // Real time goes on, and is wound forward where a user thinks.
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'],
    shouldAdvanceTime: true,
  });
  const world = await inProcessRuntime({ limits });
  const { client } = world;
  const open = new Map<string, (answer: unknown) => void>();
  client.answer = (method) => new Promise((resolve) => open.set(method, resolve));
  const asked = (method: string) =>
    vi.waitFor(() => open.get(method) ?? expect.fail(method), { timeout: 10_000 });
  expect(await client.call('ping', { message: null })).toMatchObject({ protocolVersion: 2 });
  const look = callTools({ id: 'c1', name: 'look', arguments: { at: 'tree' } });
  const model = world.api.script(look, say('seen'), say('and again'));
  const tools = [{ name: 'look', description: 'Looks', parameters: null }];
  const params = { ...asking, ...providerOf(model), tools };
  const session = await client.create(params);
  const { sessionId } = session;
  /** Each is answered while the request of the runtime is open. */
  const ownRequests = async () => {
    await client.call('ping', { message: null });
    await client.call('session.getMessages', { sessionId });
    await client.call('session.list', {});
    await client.resume(sessionId, params);
    await client.create(params);
  };
  await session.send('Look', { attachments: null, mode: null });
  const decide = await asked('permission.request');
  await ownRequests();
  await vi.advanceTimersByTimeAsync(tenMinutes);
  decide({ result: { kind: 'approved', rules: null } });
  const answer = await asked('tool.call');
  await ownRequests();
  await session.send('Again', { attachments: null, mode: null });
  await vi.advanceTimersByTimeAsync(tenMinutes);
  answer({ result: { textResultForLlm: 'a tree', resultType: 'success', toolTelemetry: {} } });
  await client.until(
    () => story(client.events(sessionId)).find((line) => line === 'assistant.message "and again"'),
    'the end',
  );
  expect(story(client.events(sessionId))).toContain('tool.execution_complete c1 ok "a tree"');
  vi.useRealTimers();
  await world.close();
});
