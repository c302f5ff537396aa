import { expect, test } from 'vitest';
import { knownModel, withKnown } from './catalog.js';

test('the longest beginning decides, whatever stands before the name', () => {
  expect(knownModel('gpt-4')?.contextWindow).toBe(8_192);
  expect(knownModel('gpt-4o-2024-08-06')?.contextWindow).toBe(128_000);
  expect(knownModel('openai/GPT-4.1-mini')?.contextWindow).toBe(1_047_576);
  expect(knownModel('claude-sonnet-4.5')).toEqual({
    contextWindow: 200_000,
    maxOutputTokens: 64_000,
    vision: true,
    reasoningEfforts: ['low', 'medium', 'high'],
  });
  expect(knownModel('unheard-of')).toBeUndefined();
});

test('what a service says of its model wins over the catalog', () => {
  expect(withKnown({ id: 'o3', name: 'o3', vision: false, maxPromptTokens: 5 })).toEqual({
    id: 'o3',
    name: 'o3',
    vision: false,
    maxPromptTokens: 5,
    contextWindow: 200_000,
    maxOutputTokens: 100_000,
    reasoningEfforts: ['low', 'medium', 'high'],
    defaultReasoningEffort: 'medium',
  });
});
