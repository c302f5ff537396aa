import {
  callTools,
  hold,
  liveRuntime,
  providerOf,
  type ScriptedModel,
  say,
  type WireSession,
} from '@groundcrew/testkit';
import { expect, test } from 'vitest';
import { dataOf, hooked } from './hooked.js';

const runtime = liveRuntime({ flags: ['--no-auto-update', '--port', '0'] });
const tools = [{ name: 'look', skipPermission: true }];
const look = { id: 'c1', name: 'look', arguments: { at: 'here' } };

/** The messages of a request after the system prompt: who says it, and what, with the times taken out. */
function saidIn(model: ScriptedModel, request: number): readonly (readonly [string, unknown])[] {
  const messages = model.requests[request]?.body.messages.slice(1) ?? [];
  return messages.map(({ role, content }) => [role, withoutTime(content)]);
}

function withoutTime(content: unknown): unknown {
  if (typeof content !== 'string') return content;
  return content.replace(/<current_datetime>[^<]+<\/current_datetime>\n\n/, 'NOW ');
}

/** Answers the only call of a client's tool, and waits for the end of the turn. */
async function seenThrough(session: WireSession): Promise<void> {
  const { data } = await session.next('external_tool.requested');
  await session.answerTool(data.requestId, { result: 'a tree' });
  await session.next('session.idle');
}

test('what hooks add stands where the protocol says, in the first prompt, a steering one and a queued one', async () => {
  const held = hold(callTools(look, { id: 'c2', name: 'view', arguments: { path: '/not/there' } }));
  const model = runtime.script(held.reply, say('done'), say('and the other'));
  hooked(runtime.client, {
    userPromptSubmitted: ({ prompt }) => ({
      modifiedPrompt: `${prompt}!`,
      additionalContext: `about ${prompt}`,
    }),
    userPromptTransformed: ({ transformedPrompt }) => ({
      modifiedTransformedPrompt: `${transformedPrompt} (as rewritten)`,
    }),
    sessionStart: () => ({ additionalContext: 'It is Monday.' }),
    preToolUse: ({ toolName }) => ({ permissionDecision: 'allow', additionalContext: `before ${toolName}` }),
    postToolUse: () => ({ additionalContext: 'trees are green' }),
    postToolUseFailure: () => ({ additionalContext: 'try another path' }),
  });
  const session = await runtime.client.create({ ...providerOf(model), hooks: true, tools });
  await session.send('Go');
  await model.asked(1);
  await session.send('Faster', { mode: 'immediate' });
  await session.send('Next', { mode: 'enqueue' });
  held.release();
  await seenThrough(session);
  const first = [
    ['user', 'It is Monday.'],
    ['user', 'NOW Go!\n\n<system_reminder>\nabout Go\n</system_reminder> (as rewritten)'],
  ];
  expect(saidIn(model, 0)).toEqual(first);
  const second = [
    ...first,
    ['assistant', null],
    ['tool', 'a tree\n\nTool "look" succeeded. Additional guidance from postToolUse hooks:\ntrees are green'],
    ['tool', 'Path /not/there does not exist. Please provide a valid path.'],
    ['user', 'Additional context from preToolUse hook:\nbefore look'],
    ['user', 'Additional context from preToolUse hook:\nbefore view'],
    ['user', 'Tool "view" failed. Additional guidance from postToolUseFailure hooks:\ntry another path'],
    ['user', 'Faster!\n\n<system_reminder>\nabout Faster\n</system_reminder> (as rewritten)'],
  ];
  expect(saidIn(model, 1)).toEqual(second);
  expect(saidIn(model, 2)).toEqual([
    ...second,
    ['assistant', 'done'],
    ['user', 'NOW Next!\n\n<system_reminder>\nabout Next\n</system_reminder> (as rewritten)'],
  ]);
  expect(dataOf(session, 'user.message').map(({ content, delivery }) => [content, delivery])).toEqual([
    ['Go!', 'idle'],
    ['Faster!', 'steering'],
    ['Next!', 'queued'],
  ]);
});

test('of several clients each goes on from what the one before made, and all that they add is there', async () => {
  const model = runtime.script(callTools(look), say('done'), say('done at last'));
  const session = await runtime.client.create({ ...providerOf(model), tools });
  for (const name of ['A', 'B']) {
    const client = await runtime.connect(runtime.process, { hasGaps: true });
    let stops = 0;
    hooked(client, {
      userPromptSubmitted: ({ prompt }) => ({
        modifiedPrompt: prompt + name,
        additionalContext: `more of ${name}`,
      }),
      userPromptTransformed: ({ transformedPrompt }) => ({
        modifiedTransformedPrompt: `${transformedPrompt}${name}`,
      }),
      sessionStart: () => ({
        additionalContext: `start of ${name}`,
        modifiedConfig: { model: `model-${name}` },
      }),
      preToolUse: ({ toolArgs }) => ({ modifiedArgs: { at: `${toolArgs.at}${name}` } }),
      postToolUse: ({ toolResult }) => ({
        modifiedResult: { ...toolResult, textResultForLlm: toolResult.textResultForLlm + name },
      }),
      agentStop: () => {
        stops += 1;
        return name === 'B' && stops === 1 ? { decision: 'block', reason: 'Go on' } : {};
      },
      sessionEnd: () => ({ sessionSummary: `summary of ${name}` }),
    });
    await client.resume(session.sessionId, { hooks: true });
  }
  await session.send('Go');
  await seenThrough(session);
  const reminders =
    '<system_reminder>\nmore of A\n</system_reminder>\n\n<system_reminder>\nmore of B\n</system_reminder>';
  expect(saidIn(model, 2)).toEqual([
    ['user', 'start of A'],
    ['user', 'start of B'],
    ['user', `NOW GoAB\n\n${reminders}AB`],
    ['assistant', null],
    ['tool', 'a treeAB'],
    ['assistant', 'done'],
    ['user', `NOW Go onAB\n\n${reminders}AB`],
  ]);
  expect(model.requests.map(({ body }) => body.model)).toEqual(['model-B', 'model-B', 'model-B']);
  expect(dataOf(session, 'external_tool.requested')).toMatchObject([{ arguments: { at: 'hereAB' } }]);
  expect(JSON.stringify(model.requests[1]?.body.messages)).toContain('hereAB');
  const { sessions } = await runtime.client.call<{ sessions: { sessionId: string; summary?: string }[] }>(
    'session.list',
  );
  expect(sessions.find(({ sessionId }) => sessionId === session.sessionId)?.summary).toBe('summary of B');
});
