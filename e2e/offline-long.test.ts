import { liveRuntime } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

test('the offline model follows an instruction that is too long to think about in the runtime itself', async () => {
  const words = 'a long way '.repeat(600).trim();
  const session = await runtime.client.create({ model: 'offline' });
  const events = await session.turn(`Say '${words}'`);
  const said = events.find(({ type }) => type === 'assistant.message');
  expect(said?.data).toMatchObject({ content: words });
});
