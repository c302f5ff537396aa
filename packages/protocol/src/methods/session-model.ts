import * as z from 'zod/mini';
import { method } from '../define.js';
import { modelCapabilitiesOverride } from '../model.js';
import { openEnum, openObject } from '../schema.js';
import { contextTier } from '../settings.js';
import { inSession, sessionRef } from './session-ref.js';

/** The model of a session. */
export const sessionModelMethods = {
  'session.model.getCurrent': method('The model that answers, and how.', sessionRef, () =>
    openObject({
      modelId: z.optional(z.string()),
      reasoningEffort: z.optional(z.string()),
      contextTier: z.optional(contextTier()),
    }),
  ),
  'session.model.list': method(
    "The models of the session's own services.",
    () => inSession({ skipCache: z.optional(z.boolean()) }),
    () =>
      openObject({
        list: z.array(z.unknown()),
        modelPriceCategories: z.optional(z.array(openObject({ id: z.string(), priceCategory: z.string() }))),
        quotaSnapshots: z.optional(z.record(z.string(), z.unknown())),
      }),
  ),
  'session.model.setAllowedModels': method(
    'The only models that the session may call; null allows all. A session whose model is no longer allowed changes to the first that is.',
    () => inSession({ allowedModels: z.nullish(z.array(z.string())) }),
    () =>
      openObject({
        allowedModels: z.optional(z.array(z.string())),
        effectiveAllowedModels: z.optional(z.array(z.string())),
        fallbackModel: z.optional(z.string()),
        modelId: z.optional(z.string()),
      }),
  ),
  'session.model.setReasoningEffort': method(
    'How hard the model thinks, from the next message on.',
    () => inSession({ reasoningEffort: z.string() }),
    () => openObject({ reasoningEffort: z.string() }),
  ),
  'session.model.switchTo': method(
    'Another model, from the next message on.',
    () =>
      inSession({
        modelId: z.string(),
        reasoningEffort: z.optional(z.string()),
        reasoningSummary: z.optional(openEnum(['none', 'concise', 'detailed'])),
        verbosity: z.optional(openEnum(['low', 'medium', 'high'])),
        contextTier: z.optional(openEnum(['default', 'long_context'])),
        modelCapabilities: z.optional(modelCapabilitiesOverride()),
        source: z.optional(z.string()),
        requireAvailable: z.optional(z.boolean()),
      }),
    () =>
      openObject({
        status: z.optional(z.string()),
        deferred: z.optional(z.boolean()),
        modelId: z.optional(z.string()),
        message: z.optional(z.string()),
        warning: z.optional(z.string()),
        persistenceError: z.optional(z.string()),
        deprecationWarnings: z.optional(z.array(z.string())),
      }),
  ),
};
