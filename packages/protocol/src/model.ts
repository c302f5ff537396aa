import * as z from 'zod/mini';
import {
  flag,
  flagOrNull,
  number,
  numberOrNull,
  text,
  textMapOrNull,
  textOrNull,
  textsOrNull,
} from './fields.js';
import { once, openEnum, openObject, type Value } from './schema.js';
import { sparseObject } from './sparse-object.js';

/** What a client knows better about a model. */
export const modelCapabilitiesOverride = once(() =>
  sparseObject({
    supports,
    limits: () => sparseObject({ ...tokenLimits(), vision: anyVisionLimits }),
  }),
);

/** A model one may choose. */
export const modelInfo = once(() =>
  openObject({
    id: z.string(),
    name: z.string(),
    capabilities: modelCapabilities(),
    policy: z.optional(
      openObject({
        state: z.enum(['enabled', 'disabled', 'unconfigured']),
        terms: z.optional(z.string()),
      }),
    ),
    billing: z.optional(
      openObject({
        multiplier: z.optional(z.number()),
        tokenPrices: z.optional(z.record(z.string(), z.unknown())),
        discountPercent: z.optional(z.number()),
        promo: z.optional(z.record(z.string(), z.unknown())),
      }),
    ),
    supportedReasoningEfforts: z.optional(z.array(z.string())),
    defaultReasoningEffort: z.optional(z.string()),
    supportedContextTiers: z.optional(z.array(z.string())),
    modelPickerCategory: z.optional(z.enum(['lightweight', 'versatile', 'powerful'])),
    modelPickerPriceCategory: z.optional(z.enum(['low', 'medium', 'high', 'very_high'])),
  }),
);

/** An entry of `models.list`. */
export type ModelInfo = Value<typeof modelInfo>;

/** A model service a client brings along. `baseUrl` may be missing here so that the handler names the missing field. */
export const providerConfig = once(() => sparseObject(providerFields()));

/** One of several model services, distinguished by name. */
export const namedProviderConfig = once(() => sparseObject(providerFields(), { name: text }));

/** A model of a named provider; it is chosen as `provider/id`. */
export const providerModel = once(() =>
  sparseObject(
    {
      wireModel: textOrNull,
      modelId: textOrNull,
      name: textOrNull,
      maxPromptTokens: numberOrNull,
      maxContextWindowTokens: numberOrNull,
      maxOutputTokens: numberOrNull,
      capabilities: modelCapabilitiesOrNull,
    },
    { id: text, provider: text },
  ),
);

/** The `provider` of `session.create`. */
export type ProviderConfig = Value<typeof providerConfig>;

const providerFields = () => ({
  type: () => z.nullable(openEnum(['openai', 'azure', 'anthropic'])),
  wireApi: () => z.nullable(openEnum(['completions', 'responses'])),
  transport: () => z.nullable(openEnum(['http', 'websockets'])),
  baseUrl: textOrNull,
  apiKey: textOrNull,
  bearerToken: textOrNull,
  /** Ask the client for a token before each call, by `providerToken.getToken`. */
  hasBearerTokenProvider: flagOrNull,
  azure: () => z.nullable(sparseObject({ apiVersion: textOrNull })),
  headers: textMapOrNull,
  providerName: textOrNull,
  modelId: textOrNull,
  wireModel: textOrNull,
  modelCapabilities: modelCapabilitiesOrNull,
  maxPromptTokens: numberOrNull,
  maxContextWindowTokens: numberOrNull,
  maxOutputTokens: numberOrNull,
});

const modelCapabilitiesOrNull = once(() => z.nullable(modelCapabilitiesOverride()));

const supports = once(() =>
  sparseObject({
    vision: flag,
    reasoningEffort: flag,
    adaptive_thinking: () => z.enum(['unsupported', 'optional', 'required']),
  }),
);

const tokenLimits = () => ({
  max_prompt_tokens: number,
  max_output_tokens: number,
  max_context_window_tokens: number,
});

const visionLimits = () => ({
  supported_media_types: z.array(z.string()),
  max_prompt_images: z.number(),
  max_prompt_image_size: z.number(),
});

const anyVisionLimits = once(() =>
  sparseObject({
    supported_media_types: textsOrNull,
    max_prompt_images: numberOrNull,
    max_prompt_image_size: numberOrNull,
  }),
);

/** What a model can do and how much it takes. */
const modelCapabilities = once(() =>
  sparseObject({
    supports,
    limits: () => sparseObject({ ...tokenLimits(), vision: () => openObject(visionLimits()) }),
  }),
);
