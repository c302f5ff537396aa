import { expect, test } from 'vitest';
import { withoutNulls } from '../define.js';
import { callbacks } from './catalog.js';
import { type HookType, hookPoints } from './hooks.js';
import { notifications } from './notifications.js';

const sessionId = 's';
const common = { sessionId, timestamp: 1767323045678, cwd: '/work' };

test.each<[keyof typeof callbacks, unknown, unknown]>([
  [
    'userInput.request',
    { sessionId, question: 'Which?', choices: ['a', 'b'], allowFreeform: true },
    { answer: 'a', wasFreeform: false },
  ],
  [
    'exitPlanMode.request',
    {
      sessionId,
      summary: 'Do it',
      planContent: '# Plan',
      actions: ['interactive', 'exit_only'],
      recommendedAction: 'interactive',
    },
    { approved: false, feedback: 'more tests' },
  ],
  [
    'autoModeSwitch.request',
    { sessionId, errorCode: 'rate_limited', retryAfterSeconds: 3 },
    { response: 'no' },
  ],
  ['hooks.invoke', { sessionId, hookType: 'preToolUse', input: common }, { output: { modifiedArgs: {} } }],
  [
    'systemMessage.transform',
    { sessionId, sections: { tone: { content: 'old' } } },
    { sections: { tone: { content: 'new' } } },
  ],
  [
    'toolArguments.check',
    { sessionId, toolCallId: 'c', toolName: 'add', arguments: { a: 'x' } },
    { valid: false, reason: 'a: expected number' },
  ],
  [
    'tool.call',
    { sessionId, toolCallId: 'c', toolName: 'add', arguments: { a: 1 } },
    { result: { textResultForLlm: '3', resultType: 'success', toolTelemetry: {} } },
  ],
  [
    'permission.request',
    { sessionId, permissionRequest: { kind: 'shell', toolCallId: 'c' } },
    { result: { kind: 'denied-by-rules', rules: [] } },
  ],
  [
    'sessionFs.readFile',
    { sessionId, path: '/s/plan.md' },
    { content: '', error: { code: 'ENOENT', message: 'no' } },
  ],
  ['sessionFs.writeFile', { sessionId, path: '/s/plan.md', content: 'x', mode: 384 }, null],
  [
    'sessionFs.sqliteQuery',
    { sessionId, query: 'SELECT 1 AS n', queryType: 'query' },
    { rows: [{ n: 1 }], columns: ['n'], rowsAffected: 0 },
  ],
  ['providerToken.getToken', { sessionId, providerName: 'default' }, { token: 't' }],
  [
    'llmInference.httpRequestStart',
    {
      requestId: 'r',
      sessionId,
      method: 'POST',
      url: 'http://x',
      headers: { accept: ['application/json'] },
      transport: 'http',
      agentId: 'a',
      interactionType: 'conversation-user',
    },
    {},
  ],
  ['llmInference.httpRequestChunk', { requestId: 'r', data: '', end: true, cancel: true }, {}],
])('%s asks and is answered as clients know it', (name, params, result) => {
  expect(callbacks[name].params().parse(params)).toEqual(params);
  expect(callbacks[name].result().parse(result)).toEqual(result);
});

test('a hook without an opinion answers null, nothing, or a null output', () => {
  const answers = [null, {}, { output: null }].map((answer) =>
    callbacks['hooks.invoke'].result().parse(withoutNulls(answer)),
  );
  expect(answers).toEqual([{}, {}, {}]);
});

test.each<[HookType, unknown, unknown]>([
  ['userPromptSubmitted', { prompt: 'hi' }, { modifiedPrompt: 'hello', additionalContext: null }],
  ['userPromptTransformed', { prompt: 'hi', transformedPrompt: '<x>hi' }, { modifiedTransformedPrompt: 'y' }],
  ['sessionStart', { source: 'new', initialPrompt: 'hi' }, { additionalContext: 'be kind' }],
  ['preToolUse', { toolName: 'view', toolArgs: {} }, { permissionDecision: 'deny', modifiedArgs: { a: 1 } }],
  ['preMcpToolCall', { serverName: 'm', toolName: 't', arguments: {} }, { metaToUse: null }],
  [
    'postToolUse',
    { toolName: 'view', toolArgs: {}, toolResult: { resultType: 'success', textResultForLlm: 'x' } },
    { modifiedResult: 'y' },
  ],
  ['postToolUseFailure', { toolName: 'view', toolArgs: {}, error: 'no' }, {}],
  [
    'agentStop',
    { transcriptPath: '/t', stopReason: 'end_turn', stop_hook_active: false },
    { decision: 'block', reason: 'go on' },
  ],
  ['sessionEnd', { reason: 'complete', finalMessage: 'done' }, {}],
  ['errorOccurred', { error: '500', errorContext: 'model_call', recoverable: true }, {}],
  ['subagentStart', { agentName: 'task', transcriptPath: '/t' }, {}],
  ['subagentStop', { agentName: 'task', transcriptPath: '/t', stopReason: 'end_turn' }, {}],
])('the hook %s has the input and output that clients know', (name, extra, output) => {
  const input = { ...common, ...(extra as object) };
  expect(hookPoints[name].params().parse(input)).toEqual(input);
  expect(hookPoints[name].result().parse(output)).toEqual(output);
});

test('a decision of no known kind is refused', () => {
  const parsed = hookPoints.preToolUse.result().safeParse({ permissionDecision: 'perhaps' });
  expect(parsed.error?.issues.map(({ path }) => path.join('.'))).toEqual(['permissionDecision']);
});

test('notifications say what clients know', () => {
  const lifecycle = {
    type: 'session.updated',
    sessionId,
    metadata: { startTime: '2026-01-02T03:04:05.678Z', modifiedTime: '2026-01-02T03:04:05.678Z' },
  };
  expect(notifications['session.lifecycle'].params().parse(lifecycle)).toEqual(lifecycle);
  const event = {
    id: 'a7b0f0a4-6f0e-4d6f-9a54-7a0f5f3f2b10',
    timestamp: '2026-01-02T03:04:05.678Z',
    parentId: null,
    ephemeral: true,
    type: 'session.idle',
    data: {},
  };
  expect(notifications['session.event'].params().parse({ sessionId, event })).toEqual({ sessionId, event });
});
