import { expect, test } from 'vitest';
import { StandIn } from '../test/stand-in.js';
import { unknownNames } from './option-names.js';

const sessionId = 's';

test('hooks are called by name, with times and directories as the app knows them', async () => {
  const runtime = new StandIn();
  const seen: unknown[] = [];
  await runtime.client.createSession({
    sessionId,
    hooks: {
      onPreToolUse: (input, invocation) => {
        seen.push(input, invocation);
        return { permissionDecision: 'deny' };
      },
      onSessionEnd: () => undefined,
    },
  });
  const input = { sessionId: 'sub', timestamp: 0, cwd: '/work', toolName: 'view', toolArgs: { path: 'a' } };
  expect(await runtime.ask('hooks.invoke', { sessionId, hookType: 'preToolUse', input })).toEqual({
    output: { permissionDecision: 'deny' },
  });
  expect(seen).toEqual([
    {
      sessionId: 'sub',
      timestamp: new Date(0),
      workingDirectory: '/work',
      toolName: 'view',
      toolArgs: { path: 'a' },
    },
    { sessionId },
  ]);
  expect(await runtime.ask('hooks.invoke', { sessionId, hookType: 'sessionEnd', input })).toEqual({});
  expect(await runtime.ask('hooks.invoke', { sessionId, hookType: 'agentStop', input })).toEqual({});
  expect(await runtime.ask('hooks.invoke', { sessionId, hookType: 'constructor', input })).toEqual({});
});

test('hooks may be methods of an object of a class, which has fields for itself', async () => {
  class Guard {
    readonly denied = new Set(['bash']);
    onPreToolUse({ toolName }: { readonly toolName: string }) {
      return this.denied.has(toolName) ? ({ permissionDecision: 'deny' } as const) : undefined;
    }
  }
  const runtime = new StandIn();
  await runtime.client.createSession({ sessionId, hooks: new Guard() });
  expect(runtime.requests).toMatchObject([
    { method: 'session.create', params: { hooks: true, hookOptions: { types: ['preToolUse'] } } },
  ]);
  const ask = (toolName: string) =>
    runtime.ask('hooks.invoke', {
      sessionId,
      hookType: 'preToolUse',
      input: { timestamp: 0, cwd: '/', toolName },
    });
  expect(await ask('bash')).toEqual({ output: { permissionDecision: 'deny' } });
  expect(await ask('view')).toEqual({});
  expect(unknownNames('create', { hooks: new Guard() })).toEqual([]);
});

test('a hook that throws is an error to the runtime, and reported to the app', async () => {
  const runtime = new StandIn();
  const hooks = {
    onPreToolUse: () => {
      throw new Error('hook broke');
    },
  };
  await runtime.client.createSession({ sessionId, hooks });
  const asked = runtime.ask('hooks.invoke', {
    sessionId,
    hookType: 'preToolUse',
    input: { timestamp: 0, cwd: '/' },
  });
  await expect(asked).rejects.toThrow('hook broke');
  expect(runtime.failures).toMatchObject([{ handler: 'hook', name: 'preToolUse', sessionId }]);
});

test('questions of the runtime are put to the handlers of their session', async () => {
  const runtime = new StandIn();
  await runtime.client.createSession({
    sessionId,
    onUserInputRequest: ({ question, choices }) => ({ answer: `${question} ${choices}`, wasFreeform: false }),
    onExitPlanModeRequest: ({ recommendedAction }) => ({ approved: true, selectedAction: recommendedAction }),
    onAutoModeSwitchRequest: async ({ errorCode }) => (errorCode === 'rate_limited' ? 'yes' : 'no'),
    provider: {
      baseUrl: 'http://localhost',
      bearerTokenProvider: ({ providerName }) => `token of ${providerName}`,
    },
    providers: [{ name: 'mine', baseUrl: 'http://localhost', bearerTokenProvider: async () => 'my token' }],
    systemMessage: { mode: 'customize', sections: { tone: { action: (text) => text.toUpperCase() } } },
  });
  const plan = { summary: 's', planContent: 'p', actions: ['autopilot'], recommendedAction: 'autopilot' };
  const answers = [
    await runtime.ask('userInput.request', { sessionId, question: 'Which?', choices: ['a', 'b'] }),
    await runtime.ask('exitPlanMode.request', { sessionId, ...plan }),
    await runtime.ask('autoModeSwitch.request', { sessionId, errorCode: 'rate_limited' }),
    await runtime.ask('providerToken.getToken', { sessionId, providerName: 'default' }),
    await runtime.ask('providerToken.getToken', { sessionId, providerName: 'mine' }),
    await runtime.ask('systemMessage.transform', {
      sessionId,
      sections: { tone: { content: 'be kind' }, safety: { content: 'stay' } },
    }),
  ];
  expect(answers).toEqual([
    { answer: 'Which? a,b', wasFreeform: false },
    { approved: true, selectedAction: 'autopilot' },
    { response: 'yes' },
    { token: 'token of default' },
    { token: 'my token' },
    { sections: { tone: { content: 'BE KIND' }, safety: { content: 'stay' } } },
  ]);
});

test('a request without a handler is refused, and a switch of models is a no', async () => {
  const runtime = new StandIn();
  await runtime.client.createSession({ sessionId });
  expect(await runtime.ask('autoModeSwitch.request', { sessionId })).toEqual({ response: 'no' });
  const refused: [string, object, string][] = [
    ['userInput.request', { sessionId, question: '?' }, 'User input requested but no handler registered'],
    ['userInput.request', { sessionId }, 'userInput.request: '],
    ['userInput.request', { sessionId: 'other', question: '?' }, 'Session not found: other'],
    ['no.such.method', { sessionId }, 'Unhandled method no.such.method'],
  ];
  for (const [method, params, message] of refused)
    await expect(runtime.ask(method, params)).rejects.toThrow(message);
  expect(runtime.failures).toEqual([]);
});

test('a question that the runtime takes back is taken back from the handler', async () => {
  const runtime = new StandIn();
  const signals: AbortSignal[] = [];
  await runtime.client.createSession({
    sessionId,
    onUserInputRequest: (_request, _invocation, signal) => {
      signals.push(signal);
      return new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
    },
  });
  const stop = new AbortController();
  const answer = runtime.ask('userInput.request', { sessionId, question: '?' }, stop.signal);
  stop.abort(new Error('never mind'));
  await expect(answer).rejects.toThrow('never mind');
  await runtime.send(sessionId, 'session.info', {});
  expect(signals.map(({ reason }) => String(reason))).toEqual(['RpcError: Request cancelled']);
  expect(runtime.failures).toEqual([]);
});
