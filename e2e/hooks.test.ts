import { callTools, liveRuntime, providerOf, say } from '@groundcrew/testkit';
import { expect, test } from 'vitest';

const runtime = liveRuntime();

test('every hook of a first turn with one tool call is invoked, in order', async () => {
  const model = runtime.script(callTools({ id: 'c1', name: 'look', arguments: { at: 'x' } }), say('done'));
  const seen: string[] = [];
  runtime.client.answer = async (_method, params) => {
    seen.push((params as { hookType: string }).hookType);
    return {};
  };
  const session = await runtime.client.create({
    ...providerOf(model),
    hooks: true,
    tools: [{ name: 'look', skipPermission: true }],
  });
  await session.send('Look');
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'a tree' });
  await session.next('session.idle');
  expect(seen).toEqual([
    'userPromptSubmitted',
    'userPromptTransformed',
    'sessionStart',
    'preToolUse',
    'postToolUse',
    'agentStop',
    'sessionEnd',
  ]);
});
