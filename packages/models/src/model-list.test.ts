import { expect, test } from 'vitest';
import { readModelList } from './model-list.js';

test('the Copilot service says all about its models', () => {
  const raw = {
    id: 'claude-sonnet-4.5',
    name: 'Claude Sonnet 4.5',
    model_picker_enabled: true,
    capabilities: {
      limits: { max_context_window_tokens: 144_000, max_prompt_tokens: 128_000, max_output_tokens: 16_000 },
      supports: { vision: true, reasoning_effort: ['low', 'high'] },
    },
  };
  expect(readModelList({ data: [raw] })).toEqual([
    {
      id: 'claude-sonnet-4.5',
      name: 'Claude Sonnet 4.5',
      vision: true,
      contextWindow: 144_000,
      maxPromptTokens: 128_000,
      maxOutputTokens: 16_000,
      reasoningEfforts: ['low', 'high'],
      raw,
    },
  ]);
});

test('Anthropic says what its models take and how hard they think', () => {
  const yes = { supported: true };
  const no = { supported: false };
  const raw = {
    type: 'model',
    id: 'claude-opus-4-6',
    display_name: 'Claude Opus 4.6',
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    capabilities: {
      image_input: yes,
      effort: { supported: true, low: yes, medium: yes, high: yes, xhigh: null, max: no },
    },
  };
  expect(readModelList({ data: [raw], has_more: false })).toEqual([
    {
      id: 'claude-opus-4-6',
      name: 'Claude Opus 4.6',
      vision: true,
      contextWindow: 1_000_000,
      maxOutputTokens: 128_000,
      reasoningEfforts: ['low', 'medium', 'high'],
      raw,
    },
  ]);
});

test('who lists what a model supports means that it does not support the rest', () => {
  const raw = { id: 'gpt-5', capabilities: { supports: { vision: false }, limits: {} } };
  expect(readModelList([raw])).toEqual([
    {
      id: 'gpt-5',
      name: 'gpt-5',
      vision: false,
      contextWindow: 400_000,
      maxOutputTokens: 128_000,
      reasoningEfforts: [],
      raw,
    },
  ]);
});

test('other services say little, and the catalog fills in', () => {
  const known = { id: 'gpt-4o-mini', object: 'model' };
  const served = { id: 'Qwen/Qwen3-32B', max_model_len: 16_384 };
  const routed = {
    id: 'vendor/unheard-of',
    name: 'Unheard Of',
    context_length: 1000,
    architecture: { input_modalities: ['text', 'image'] },
    top_provider: { max_completion_tokens: 100 },
  };
  expect(readModelList({ data: [known, served, routed, { name: 'without id' }, null] })).toEqual([
    {
      id: 'gpt-4o-mini',
      name: 'gpt-4o-mini',
      vision: true,
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      reasoningEfforts: [],
      raw: known,
    },
    {
      id: 'Qwen/Qwen3-32B',
      name: 'Qwen/Qwen3-32B',
      vision: false,
      contextWindow: 16_384,
      maxOutputTokens: 16_384,
      raw: served,
    },
    {
      id: 'vendor/unheard-of',
      name: 'Unheard Of',
      vision: true,
      contextWindow: 1000,
      maxOutputTokens: 100,
      raw: routed,
    },
  ]);
});

test('a list may be bare or under another name, and what is no list is a bad response', () => {
  const model = { id: 'tiny', name: 'tiny', vision: false, raw: { id: 'tiny' } };
  expect(readModelList([{ id: 'tiny' }])).toEqual([model]);
  expect(readModelList({ models: [{ id: 'tiny' }] })).toEqual([model]);
  expect(() => readModelList('<html>')).toThrow(expect.objectContaining({ kind: 'bad_response' }));
});
