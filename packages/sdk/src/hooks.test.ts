import type { HookPoints, HookType, Result } from '@groundcrew/protocol';
import { expect, expectTypeOf, test } from 'vitest';
import {
  type HookHandler,
  type HookInput,
  type HookOutputs,
  hookTypesOf,
  type SessionHooks,
} from './hooks.js';
import { sessionParams } from './session-params.js';

type Plain<T> = { [P in keyof T]: T[P] };

test('what the SDK lets a hook answer is what the wire takes', () => {
  type Misfit = {
    [K in HookType]: Plain<HookOutputs[K]> extends Result<HookPoints[K]> ? never : K;
  }[HookType];
  const misfit: never[] = [] as Misfit[];
  expect(misfit).toEqual([]);
});

test('hooks have typed input, and a wrong answer does not compile', () => {
  const hooks: SessionHooks = {
    onPreToolUse: ({ toolName, toolArgs, timestamp, workingDirectory }, { sessionId }, signal) => {
      expectTypeOf(toolName).toEqualTypeOf<string>();
      expectTypeOf(toolArgs).toEqualTypeOf<unknown>();
      expectTypeOf(timestamp).toEqualTypeOf<Date>();
      expectTypeOf(workingDirectory).toEqualTypeOf<string>();
      expectTypeOf(sessionId).toEqualTypeOf<string>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal>();
      return { permissionDecision: 'deny', permissionDecisionReason: 'no' };
    },
    onPostToolUse: async ({ toolResult }) => ({
      modifiedResult: { ...toolResult, textResultForLlm: toolResult.textResultForLlm.trim() },
    }),
    onErrorOccurred: ({ errorContext }) =>
      errorContext === 'model_call' ? { errorHandling: 'retry', retryCount: 2 } : undefined,
    onSessionEnd: async () => undefined,
    onAgentStop: () => null,
  };
  expect(Object.keys(hooks)).toHaveLength(5);

  // @ts-expect-error: no such decision
  const perhaps: HookHandler<'preToolUse'> = () => ({ permissionDecision: 'perhaps' });
  // @ts-expect-error: a misspelt field
  const misspelt: HookHandler<'preToolUse'> = () => ({ permisionDecision: 'deny' });
  // @ts-expect-error: an answer of another point
  const elsewhere: HookHandler<'preToolUse'> = () => ({ modifiedPrompt: 'x' });
  // @ts-expect-error: no object
  const bare: HookHandler<'preToolUse'> = () => true;
  // @ts-expect-error: a promise of something else
  const promised: HookHandler<'userPromptSubmitted'> = async () => ({ modifiedPrompt: 7 });
  // @ts-expect-error: no such handling
  const ignored: HookHandler<'errorOccurred'> = () => ({ errorHandling: 'ignore' });
  // @ts-expect-error: a model is a text
  const configured: HookHandler<'sessionStart'> = () => ({ modifiedConfig: { model: 4 } });
  // @ts-expect-error: a hook knows only its own input
  const told = (input: HookInput<'sessionEnd'>) => input.toolName;
  // @ts-expect-error: there is no such hook
  const unknown: SessionHooks = { onLunch: () => undefined };
  expect([perhaps, misspelt, elsewhere, bare, promised, ignored, configured, told, unknown]).toHaveLength(9);
});

test('the runtime learns at which points the app has hooks, and how to treat them', () => {
  const hooks: SessionHooks = { onPreToolUse: () => undefined, onAgentStop: () => undefined };
  expect(hookTypesOf(hooks)).toEqual(['preToolUse', 'agentStop']);
  const { hooks: hasHooks, hookOptions } = sessionParams({ hooks, hookOptions: { timeoutMs: 5000 } });
  expect({ hasHooks, hookOptions }).toEqual({
    hasHooks: true,
    hookOptions: { timeoutMs: 5000, types: ['preToolUse', 'agentStop'] },
  });
  expect(sessionParams({ waiveHooks: true })).toMatchObject({ hooks: false, waiveHooks: true });
});
