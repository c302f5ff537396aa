import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime({ flags: ['--port', '0'] });
const levels = 5000;
/** Deeper values are more than JSON.stringify writes. */
const ofClients = 2000;
const nested = `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const tools = [{ name: 'look', skipPermission: true }];

test('tool arguments 5,000 deep are refused with the reason, and the turn goes on', async () => {
  const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: nested }), say('done'));
  const session = await runtime.client.create({ ...providerOf(model), tools });
  await session.turn('Go');
  expect(model.requests[1]?.body.messages.at(-1)).toMatchObject({
    role: 'tool',
    content: expect.stringContaining("'look' were not taken: they nest deeper than 256 levels"),
  });
  const [complete] = (await session.stored()).filter(({ type }) => type === 'tool.execution_complete');
  expect(complete?.data).toMatchObject({ success: false });
});

test.each([
  ['small', ''],
  ['of more than a megabyte', 'x'.repeat(1_200_000)],
])(
  'a request %s that nests 2,000 deep is answered with an error, and the connection goes on',
  async (_, text) => {
    const client = await runtime.connect();
    let value: object = {};
    for (let level = 0; level < ofClients; level += 1) value = { a: value };
    for (const [method, params] of [
      ['session.create', { tools: [{ name: 'look', parameters: value }] }],
      ['session.send', { sessionId: 'none', prompt: 'x', attachments: [value] }],
      ['no.such.method', value],
    ] as const)
      expect(await client.failure(method, { text, ...params })).toMatchObject({
        code: -32600,
        message: expect.stringContaining('nests deeper than 512 levels'),
        data: { code: 'too_deep' },
      });
    expect(await client.call('ping', {})).toMatchObject({ message: expect.any(String) });
  },
);

test("a client's answer that nests 2,000 deep is the failure of that question, and the connection goes on", async () => {
  const model = runtime.script(say('done'));
  const client = await runtime.connect();
  let deep: object = {};
  for (let level = 0; level < ofClients; level += 1) deep = { a: deep };
  client.answer = async () => ({ output: deep });
  const session = await client.create({ ...providerOf(model), hooks: true });
  await session.turn('Go');
  expect(await client.call('ping', {})).toMatchObject({ message: expect.any(String) });
});

test('an answer of the model 5,000 deep is an error of that turn, and the next one is fine', async () => {
  const deep = `{"choices":[{"index":0,"message":{"role":"assistant","content":"x"},"finish_reason":"stop"}],"more":${nested}}`;
  const model = runtime.script(
    { type: 'status', status: 200, body: deep, headers: { 'content-type': 'application/json' } },
    say('done'),
  );
  const session = await runtime.client.create(providerOf(model));
  await session.turn('Go');
  expect((await session.stored()).map(({ type }) => type)).toContain('session.error');
  const events = await session.turn('Again');
  expect(events.map(({ type }) => type)).toContain('assistant.message');
});
