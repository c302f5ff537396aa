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
  const capabilities = raw.capabilities;
  const limits = property(capabilities, 'limits');
  const supports = property(capabilities, 'supports');
  const efforts = property(supports, 'reasoning_effort');
  const optional = {
    vision: readVision(raw, supports),
    contextWindow: firstCount(
      property(limits, 'max_context_window_tokens'),
      raw.context_length,
      raw.max_model_len,
    ),
    maxPromptTokens: countOrNothing(property(limits, 'max_prompt_tokens')),
    maxOutputTokens: firstCount(
      property(limits, 'max_output_tokens'),
      property(raw.top_provider, 'max_completion_tokens'),
    ),
    reasoningEfforts: Array.isArray(efforts)
      ? efforts.filter((effort) => typeof effort === 'string')
      : undefined,
  };
  const known = Object.entries(optional).filter(([, value]) => value !== undefined);
  return [withKnown({ id, name: textOrNothing(raw.name) ?? id, ...Object.fromEntries(known), raw })];
}

function readVision(raw: Readonly<Record<string, unknown>>, supports: unknown): boolean | undefined {
  const vision = property(supports, 'vision');
  if (typeof vision === 'boolean') return vision;
  const modalities = property(raw.architecture, 'input_modalities');
  return Array.isArray(modalities) ? modalities.includes('image') : undefined;
}

function firstCount(...values: readonly unknown[]): number | undefined {
  return values.map(countOrNothing).find((value) => value !== undefined);
}
