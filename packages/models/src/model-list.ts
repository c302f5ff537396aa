import { withKnown } from './catalog.js';
import { ModelError } from './errors.js';
import { countOrNothing, isObject, property, textOrNothing } from './json.js';
import type { ModelInfo } from './model.js';

/** The models a service lists. Services say very different things about them; the catalog fills what is missing. */
export function readModelList(body: unknown): readonly ModelInfo[] {
  const list = [body, property(body, 'data'), property(body, 'models')].find(Array.isArray);
  if (list === undefined) throw new ModelError('bad_response', 'The model service sent no list of models');
  return list.flatMap((entry: unknown) => readModel(entry));
}

function readModel(raw: unknown): readonly ModelInfo[] {
  const id = textOrNothing(property(raw, 'id'));
  if (!isObject(raw) || id === undefined) return [];
  const { capabilities } = raw;
  const limits = property(capabilities, 'limits');
  const supports = property(capabilities, 'supports');
  const efforts = readEfforts(capabilities);
  const optional = {
    vision: readVision(raw, capabilities),
    contextWindow: firstCount(
      property(limits, 'max_context_window_tokens'),
      raw.context_length,
      raw.max_model_len,
      raw.max_input_tokens,
    ),
    maxPromptTokens: countOrNothing(property(limits, 'max_prompt_tokens')),
    maxOutputTokens: firstCount(
      property(limits, 'max_output_tokens'),
      property(raw.top_provider, 'max_completion_tokens'),
      raw.max_tokens,
    ),
    reasoningEfforts: efforts,
  };
  const known = Object.entries(optional).filter(([, value]) => value !== undefined);
  const name = textOrNothing(raw.name) ?? textOrNothing(raw.display_name) ?? id;
  const info = withKnown({ id, name, ...Object.fromEntries(known), raw });
  if (efforts !== undefined || !isObject(supports)) return [info];
  // Who lists what a model supports means that it does not support the rest.
  const { defaultReasoningEffort: _, ...rest } = info;
  return [{ ...rest, reasoningEfforts: [] }];
}

/** Copilot lists the levels, Anthropic has a word about each. */
function readEfforts(capabilities: unknown): readonly string[] | undefined {
  const listed = property(property(capabilities, 'supports'), 'reasoning_effort');
  if (Array.isArray(listed)) return listed.filter((effort) => typeof effort === 'string');
  const levels = property(capabilities, 'effort');
  if (!isObject(levels)) return undefined;
  return ['low', 'medium', 'high', 'xhigh', 'max'].filter((level) => isSupported(levels[level]));
}

function readVision(raw: Readonly<Record<string, unknown>>, capabilities: unknown): boolean | undefined {
  const vision = property(property(capabilities, 'supports'), 'vision');
  if (typeof vision === 'boolean') return vision;
  const images = property(capabilities, 'image_input');
  if (isObject(images)) return isSupported(images);
  const modalities = property(raw.architecture, 'input_modalities');
  return Array.isArray(modalities) ? modalities.includes('image') : undefined;
}

function isSupported(capability: unknown): boolean {
  return property(capability, 'supported') === true;
}

function firstCount(...values: readonly unknown[]): number | undefined {
  return values.map(countOrNothing).find((value) => value !== undefined);
}
