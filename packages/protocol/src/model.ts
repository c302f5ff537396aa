import * as z from 'zod';
import { once, openEnum, openObject, type Value } from './schema.js';

/** What a client knows better about a model. */
export const modelCapabilitiesOverride = once(() =>
  openObject({
    supports: supports().optional(),
    limits: openObject({ ...tokenLimits(), vision: anyVisionLimits().optional() }).optional(),
  }),
);

/** A model one may choose. */
export const modelInfo = once(() =>
  openObject({
    id: z.string(),
    name: z.string(),
    capabilities: modelCapabilities(),
    policy: openObject({
      state: z.enum(['enabled', 'disabled', 'unconfigured']),
      terms: z.string().optional(),
    }).optional(),
    billing: openObject({
      multiplier: z.number().optional(),
      tokenPrices: z.record(z.string(), z.unknown()).optional(),
      discountPercent: z.number().optional(),
      promo: z.record(z.string(), z.unknown()).optional(),
    }).optional(),
    supportedReasoningEfforts: z.array(z.string()).optional(),
    defaultReasoningEffort: z.string().optional(),
    supportedContextTiers: z.array(z.string()).optional(),
    modelPickerCategory: z.enum(['lightweight', 'versatile', 'powerful']).optional(),
    modelPickerPriceCategory: z.enum(['low', 'medium', 'high', 'very_high']).optional(),
  }),
);

/** An entry of `models.list`. */
export type ModelInfo = Value<typeof modelInfo>;

/** A model service a client brings along. `baseUrl` may be missing here so that the handler names the missing field. */
export const providerConfig = once(() => openObject(providerFields()));

/** One of several model services, told apart by name. */
export const namedProviderConfig = once(() => openObject({ ...providerFields(), name: z.string() }));

/** A model of a named provider; it is chosen as `provider/id`. */
export const providerModel = once(() =>
  openObject({
    id: z.string(),
    provider: z.string(),
    wireModel: z.string().nullish(),
    modelId: z.string().nullish(),
    name: z.string().nullish(),
    maxPromptTokens: z.number().nullish(),
    maxContextWindowTokens: z.number().nullish(),
    maxOutputTokens: z.number().nullish(),
    capabilities: modelCapabilitiesOverride().nullish(),
  }),
);

/** The `provider` of `session.create`. */
export type ProviderConfig = Value<typeof providerConfig>;

const providerFields = () => ({
  type: openEnum(['openai', 'azure', 'anthropic']).nullish(),
  wireApi: openEnum(['completions', 'responses']).nullish(),
  transport: openEnum(['http', 'websockets']).nullish(),
  baseUrl: z.string().nullish(),
  apiKey: z.string().nullish(),
  bearerToken: z.string().nullish(),
  /** Ask the client for a token before each call, by `providerToken.getToken`. */
  hasBearerTokenProvider: z.boolean().nullish(),
  azure: openObject({ apiVersion: z.string().nullish() }).nullish(),
  headers: z.record(z.string(), z.string()).nullish(),
  providerName: z.string().nullish(),
  modelId: z.string().nullish(),
  wireModel: z.string().nullish(),
  modelCapabilities: modelCapabilitiesOverride().nullish(),
  maxPromptTokens: z.number().nullish(),
  maxContextWindowTokens: z.number().nullish(),
  maxOutputTokens: z.number().nullish(),
});

const supports = once(() =>
  openObject({
    vision: z.boolean().optional(),
    reasoningEffort: z.boolean().optional(),
    adaptive_thinking: z.enum(['unsupported', 'optional', 'required']).optional(),
  }),
);

const tokenLimits = () => ({
  max_prompt_tokens: z.number().optional(),
  max_output_tokens: z.number().optional(),
  max_context_window_tokens: z.number().optional(),
});

const visionLimits = () => ({
  supported_media_types: z.array(z.string()),
  max_prompt_images: z.number(),
  max_prompt_image_size: z.number(),
});

const anyVisionLimits = once(() =>
  openObject({
    supported_media_types: z.array(z.string()).nullish(),
    max_prompt_images: z.number().nullish(),
    max_prompt_image_size: z.number().nullish(),
  }),
);

/** What a model can do and how much it takes. */
const modelCapabilities = once(() =>
  openObject({
    supports: supports().optional(),
    limits: openObject({ ...tokenLimits(), vision: openObject(visionLimits()).optional() }).optional(),
  }),
);
