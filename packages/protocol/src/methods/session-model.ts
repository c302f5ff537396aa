import * as z from 'zod';
import { method } from '../define.js';
import { modelCapabilitiesOverride } from '../model.js';
import { openEnum, openObject } from '../schema.js';
import { contextTier } from '../settings.js';
import { inSession, sessionRef } from './session-ref.js';

/** The model of a session. */
export const sessionModelMethods = {
  'session.model.getCurrent': method('The model that answers, and how.', sessionRef, () =>
    openObject({
      modelId: z.string().optional(),
      reasoningEffort: z.string().optional(),
      contextTier: contextTier().optional(),
    }),
  ),
  'session.model.list': method(
    "The models of the session's own services.",
    () => inSession({ skipCache: z.boolean().optional() }),
    () =>
      openObject({
        list: z.array(z.unknown()),
        modelPriceCategories: z.array(openObject({ id: z.string(), priceCategory: z.string() })).optional(),
        quotaSnapshots: z.record(z.string(), z.unknown()).optional(),
      }),
  ),
  'session.model.setReasoningEffort': method(
    'How hard the model thinks, from the next call on.',
    () => inSession({ reasoningEffort: z.string() }),
    () => openObject({ reasoningEffort: z.string() }),
  ),
  'session.model.switchTo': method(
    'Another model, from the next call on.',
    () =>
      inSession({
        modelId: z.string(),
        reasoningEffort: z.string().optional(),
        reasoningSummary: openEnum(['none', 'concise', 'detailed']).optional(),
        verbosity: openEnum(['low', 'medium', 'high']).optional(),
        contextTier: openEnum(['default', 'long_context']).optional(),
        modelCapabilities: modelCapabilitiesOverride().optional(),
        source: z.string().optional(),
        requireAvailable: z.boolean().optional(),
      }),
    () =>
      openObject({
        status: z.string().optional(),
        deferred: z.boolean().optional(),
        modelId: z.string().optional(),
        message: z.string().optional(),
        warning: z.string().optional(),
        persistenceError: z.string().optional(),
        deprecationWarnings: z.array(z.string()).optional(),
      }),
  ),
};
