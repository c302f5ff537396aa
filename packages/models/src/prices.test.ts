import { expect, test } from 'vitest';
import { costOf, priceList } from './prices.js';

const usage = {
  inputTokens: 1_000_000,
  outputTokens: 100_000,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 50_000,
};

test('a model is priced by its own name, with or without its day, and by no name that is only alike', async () => {
  const { find, asOf } = await priceList();
  expect(asOf).toMatch(/^\d{4}-\d\d-\d\d$/);
  expect(find('gpt-4.1')).toEqual({ input: 2, output: 8, cacheRead: 0.5 });
  expect([find('gpt-4.1-2025-04-14'), find('GPT-4.1')]).toEqual([find('gpt-4.1'), find('gpt-4.1')]);
  expect(find('claude-sonnet-4.5')).toEqual(find('claude-sonnet-4-5-20250929'));
  expect([find('gpt-4.1-turbo'), find('some/gpt-4.1'), find('llama3.3'), find('constructor')]).toEqual([
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

test('prices of one’s own come first, add what is missing, and need both ways to count', async () => {
  const { find } = await priceList({
    'gpt-4.1': { input: 1 },
    mine: { input: 0, output: 0 },
    half: { input: 1 },
  });
  expect([find('gpt-4.1'), find('mine'), find('half')]).toEqual([
    { input: 1, output: 8, cacheRead: 0.5 },
    { input: 0, output: 0 },
    undefined,
  ]);
});

test('a call costs what each sort of its tokens costs', () => {
  const price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
  expect(costOf(usage, price)).toBeCloseTo(4.5, 10);
  const cached = { ...usage, cacheReadTokens: 600_000, cacheWriteTokens: 200_000 };
  expect(costOf(cached, price)).toBeCloseTo(0.6 + 0.18 + 0.75 + 1.5, 10);
  expect(costOf(cached, { input: 3, output: 15 })).toBeCloseTo(4.5, 10);
});

test('an unknown price is null, never a number', () => {
  expect(costOf(usage, undefined)).toBe(null);
  expect(costOf(usage, { input: 1, output: 1, maxPrompt: 999_999 })).toBe(null);
  expect(costOf(usage, { input: 0, output: 0 })).toBe(0);
});

test('what a service says it charges counts, whatever its price', () => {
  expect(costOf({ ...usage, billed: 0.5 }, { input: 1, output: 1 })).toBe(0.5);
  expect(costOf({ ...usage, billed: 0 }, undefined)).toBe(0);
});
