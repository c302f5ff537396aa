import fc from 'fast-check';
import { expect, test } from 'vitest';
import { describeLimit, judgeCall, limitsAfter, type SessionLimits } from './limits.js';

const call = { model: 'm', inputTokens: 100, price: { input: 1, output: 10 } };
const spent = { calls: 2, tokens: 500, cost: 0.001 };

test('without limits everything is granted, and nothing is bounded', () => {
  expect(judgeCall({}, spent, { ...call, price: undefined })).toEqual({ type: 'granted' });
});

test('each limit bounds the answer by what it leaves, and the narrowest counts', () => {
  expect(judgeCall({ maxTokens: 700 }, spent, call)).toEqual({ type: 'granted', maxOutputTokens: 100 });
  expect(judgeCall({ maxCost: 0.002125 }, spent, call)).toEqual({ type: 'granted', maxOutputTokens: 102 });
  expect(judgeCall({ maxAiCredits: 0.21, maxTokens: 650, maxCalls: 3 }, spent, call)).toEqual({
    type: 'granted',
    maxOutputTokens: 50,
  });
});

test.each<[SessionLimits, object]>([
  [{ maxCalls: 2 }, { limit: 'maxCalls', max: 2, used: 2 }],
  [{ maxTokens: 615 }, { limit: 'maxTokens', max: 615, used: 500 }],
  [{ maxCost: 0.0011 }, { limit: 'maxCost', max: 0.0011, used: 0.001 }],
  [{ maxAiCredits: 0.11 }, { limit: 'maxAiCredits', max: 0.11, used: 0.1 }],
])('%j leaves no room', (limits, expected) => {
  expect(judgeCall(limits, spent, call)).toEqual({ type: 'spent', spent: expected });
});

test('a limit on money asks for a price, and what is free has room', () => {
  expect(judgeCall({ maxCost: 1 }, spent, { ...call, price: undefined })).toEqual({
    type: 'unpriced',
    model: 'm',
  });
  expect(judgeCall({ maxCost: 1 }, spent, { ...call, price: { input: 0, output: 0 } })).toEqual({
    type: 'granted',
  });
});

test('what was granted, spent to the last token, never exceeds a limit', () => {
  const amount = fc.double({ min: 0, max: 5, noNaN: true });
  const price = fc.record({ input: amount, output: amount });
  const limits = fc.record({ maxCost: amount, maxTokens: fc.nat(100_000) }, { requiredKeys: [] });
  const totals = fc.record({ calls: fc.nat(9), tokens: fc.nat(50_000), cost: amount });
  fc.assert(
    fc.property(limits, totals, price, fc.nat(60_000), (allowed, before, cost, inputTokens) => {
      const verdict = judgeCall(allowed, before, { model: 'm', inputTokens, price: cost });
      if (verdict.type !== 'granted') return;
      const output = verdict.maxOutputTokens ?? 0;
      const after = before.cost + (inputTokens * cost.input + output * cost.output) / 1_000_000;
      expect(after).toBeLessThanOrEqual((allowed.maxCost ?? Number.POSITIVE_INFINITY) + 1e-9);
      expect(before.tokens + inputTokens + output).toBeLessThanOrEqual(
        allowed.maxTokens ?? Number.POSITIVE_INFINITY,
      );
    }),
  );
});

test('an answer raises, sets or lifts the limit that is spent, and no other', () => {
  const limits = { maxCalls: 2, maxAiCredits: 5 };
  const calls = { limit: 'maxCalls' as const, max: 2, used: 2 };
  const credits = { limit: 'maxAiCredits' as const, max: 5, used: 5 };
  expect([
    limitsAfter(limits, calls, { action: 'add', additional: 3 }),
    limitsAfter(limits, calls, { action: 'set', max: 9 }),
    limitsAfter(limits, calls, { action: 'unset' }),
    limitsAfter(limits, calls, { action: 'cancel' }),
    limitsAfter(limits, calls, { action: 'add', additionalAiCredits: 3 }),
    limitsAfter(limits, credits, { action: 'add', additionalAiCredits: 3 }),
    limitsAfter(limits, credits, { action: 'set', maxAiCredits: 8 }),
  ]).toEqual([
    { maxCalls: 5, maxAiCredits: 5 },
    { maxCalls: 9, maxAiCredits: 5 },
    { maxAiCredits: 5 },
    undefined,
    undefined,
    { maxCalls: 2, maxAiCredits: 8 },
    { maxCalls: 2, maxAiCredits: 8 },
  ]);
});

test('limits are called by their unit', () => {
  const names = ['maxAiCredits', 'maxCost', 'maxTokens', 'maxCalls'] as const;
  expect(names.map((limit) => describeLimit({ limit, max: 1 }))).toEqual([
    '1 AI credits',
    '$1',
    '1 tokens',
    '1 model call',
  ]);
});
