import type { ModelInfo } from './model.js';

/** What is publicly known of a family of models, for services that say less about themselves. */
export interface KnownModel {
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly vision: boolean;
  readonly reasoningEfforts?: readonly string[];
  readonly defaultReasoningEffort?: string;
  /** Refuses every temperature but the default one. */
  readonly fixedSampling?: boolean;
  /** Can be told how much to write. */
  readonly takesVerbosity?: boolean;
  /** Takes a reasoning effort, and decides itself when and how long. */
  readonly thinksByItself?: boolean;
}

/** The family a model belongs to: the longest known beginning of its name, whatever vendor path stands before it. */
export function knownModel(model: string): KnownModel | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return byLength.find(([prefix]) => name.startsWith(prefix))?.[1];
}

/** The model with the gaps of its description filled from the catalog. */
export function withKnown(model: Omit<ModelInfo, 'vision'> & { readonly vision?: boolean }): ModelInfo {
  const known = knownModel(model.id);
  if (!known) return { ...model, vision: model.vision ?? false };
  const { fixedSampling: _, thinksByItself: __, takesVerbosity: ___, maxOutputTokens, ...rest } = known;
  const limit = Math.min(maxOutputTokens, model.contextWindow ?? maxOutputTokens);
  return { ...rest, maxOutputTokens: limit, ...model, vision: model.vision ?? known.vision };
}

/** A model without reasoning. */
const unthinking = { reasoningEfforts: [] };
const openaiEfforts = { reasoningEfforts: ['low', 'medium', 'high'], defaultReasoningEffort: 'medium' };
const gpt5Efforts = {
  reasoningEfforts: ['minimal', 'low', 'medium', 'high'],
  defaultReasoningEffort: 'medium',
};
const gpt5LaterEfforts = {
  reasoningEfforts: ['none', 'low', 'medium', 'high', 'xhigh'],
  defaultReasoningEffort: 'medium',
};
const claudeBudgets = { reasoningEfforts: ['low', 'medium', 'high'] };
const claudeEfforts = { reasoningEfforts: ['low', 'medium', 'high', 'max'], thinksByItself: true };
const claudeMoreEfforts = {
  reasoningEfforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  thinksByItself: true,
};
const claude4 = { contextWindow: 200_000, maxOutputTokens: 64_000, vision: true };

const families: Readonly<Record<string, KnownModel>> = {
  'claude-': { ...claude4, ...claudeMoreEfforts },
  'claude-2': { contextWindow: 200_000, maxOutputTokens: 4_096, vision: false, ...unthinking },
  'claude-3': { contextWindow: 200_000, maxOutputTokens: 8_192, vision: true, ...unthinking },
  'claude-3-7': { ...claude4, ...claudeBudgets },
  'claude-3.7': { ...claude4, ...claudeBudgets },
  'claude-haiku-4': { ...claude4, ...claudeBudgets },
  'claude-opus-4': { ...claude4, maxOutputTokens: 32_000, ...claudeBudgets },
  'claude-opus-4-5': { ...claude4, ...claudeBudgets },
  'claude-opus-4.5': { ...claude4, ...claudeBudgets },
  'claude-opus-4-6': { ...claude4, maxOutputTokens: 128_000, ...claudeEfforts },
  'claude-opus-4.6': { ...claude4, maxOutputTokens: 128_000, ...claudeEfforts },
  'claude-opus-4-7': { ...claude4, maxOutputTokens: 128_000, ...claudeMoreEfforts },
  'claude-opus-4.7': { ...claude4, maxOutputTokens: 128_000, ...claudeMoreEfforts },
  'claude-opus-4-8': { ...claude4, maxOutputTokens: 128_000, ...claudeMoreEfforts },
  'claude-opus-4.8': { ...claude4, maxOutputTokens: 128_000, ...claudeMoreEfforts },
  'claude-sonnet-4': { ...claude4, ...claudeBudgets },
  'claude-sonnet-4-6': { ...claude4, ...claudeEfforts },
  'claude-sonnet-4.6': { ...claude4, ...claudeEfforts },
  codestral: { contextWindow: 256_000, maxOutputTokens: 32_000, vision: false, ...unthinking },
  'deepseek-chat': { contextWindow: 128_000, maxOutputTokens: 8_192, vision: false, ...unthinking },
  'deepseek-reasoner': { contextWindow: 128_000, maxOutputTokens: 64_000, vision: false },
  devstral: { contextWindow: 128_000, maxOutputTokens: 32_000, vision: false, ...unthinking },
  'gemini-2': { contextWindow: 1_048_576, maxOutputTokens: 65_536, vision: true },
  'gemini-3': { contextWindow: 1_048_576, maxOutputTokens: 65_536, vision: true },
  'glm-4': { contextWindow: 128_000, maxOutputTokens: 96_000, vision: false },
  'gpt-3.5': { contextWindow: 16_385, maxOutputTokens: 4_096, vision: false, ...unthinking },
  'gpt-4': { contextWindow: 8_192, maxOutputTokens: 8_192, vision: false, ...unthinking },
  'gpt-4-turbo': { contextWindow: 128_000, maxOutputTokens: 4_096, vision: true, ...unthinking },
  'gpt-4.1': { contextWindow: 1_047_576, maxOutputTokens: 32_768, vision: true, ...unthinking },
  'gpt-4o': { contextWindow: 128_000, maxOutputTokens: 16_384, vision: true, ...unthinking },
  'gpt-5': {
    takesVerbosity: true,
    contextWindow: 400_000,
    maxOutputTokens: 128_000,
    vision: true,
    fixedSampling: true,
    ...gpt5Efforts,
  },
  'gpt-5.': {
    takesVerbosity: true,
    contextWindow: 400_000,
    maxOutputTokens: 128_000,
    vision: true,
    fixedSampling: true,
    ...gpt5LaterEfforts,
  },
  'gpt-oss': { contextWindow: 131_072, maxOutputTokens: 131_072, vision: false, ...openaiEfforts },
  'grok-4': { contextWindow: 256_000, maxOutputTokens: 64_000, vision: true },
  'kimi-k2': { contextWindow: 256_000, maxOutputTokens: 32_000, vision: false },
  'llama-3.1': { contextWindow: 131_072, maxOutputTokens: 8_192, vision: false, ...unthinking },
  'llama-3.3': { contextWindow: 131_072, maxOutputTokens: 8_192, vision: false, ...unthinking },
  'llama-4': { contextWindow: 1_048_576, maxOutputTokens: 16_384, vision: true, ...unthinking },
  'mistral-large': { contextWindow: 128_000, maxOutputTokens: 32_000, vision: false, ...unthinking },
  o1: {
    contextWindow: 200_000,
    maxOutputTokens: 100_000,
    vision: true,
    fixedSampling: true,
    ...openaiEfforts,
  },
  o3: {
    contextWindow: 200_000,
    maxOutputTokens: 100_000,
    vision: true,
    fixedSampling: true,
    ...openaiEfforts,
  },
  'o4-mini': {
    contextWindow: 200_000,
    maxOutputTokens: 100_000,
    vision: true,
    fixedSampling: true,
    ...openaiEfforts,
  },
  'qwen2.5-coder': { contextWindow: 131_072, maxOutputTokens: 8_192, vision: false, ...unthinking },
  qwen3: { contextWindow: 131_072, maxOutputTokens: 32_768, vision: false },
  'qwen3-coder': { contextWindow: 262_144, maxOutputTokens: 65_536, vision: false, ...unthinking },
};

const byLength = Object.entries(families).sort(([left], [right]) => right.length - left.length);
