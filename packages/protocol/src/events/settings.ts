import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';
import {
  contextTier,
  modelChangeSource,
  reasoningSummary,
  sessionLimits,
  sessionMode,
  verbosity,
} from '../settings.js';

/** What a session is set to: model, mode, permissions, limits, what clients contribute. */
export const settingsEvents = {
  'capabilities.changed': ephemeral('What the attached clients can show has changed.', () =>
    openObject({
      ui: z.optional(
        openObject({
          canvases: z.optional(z.boolean()),
          elicitation: z.optional(z.boolean()),
          mcpApps: z.optional(z.boolean()),
        }),
      ),
    }),
  ),
  'commands.changed': ephemeral('The commands of the attached clients have changed.', () =>
    openObject({ commands: z.array(openObject({ name: z.string(), description: z.optional(z.string()) })) }),
  ),
  'session.auto_mode_resolved': durable('The automatic choice of a model fell on one.', () =>
    openObject({
      chosenModel: z.string(),
      availableModels: z.optional(z.array(z.string())),
      candidateModels: z.optional(z.array(z.string())),
      categoryScores: z.optional(z.record(z.string(), z.number())),
      chosenShortfall: z.optional(z.number()),
      confidence: z.optional(z.number()),
      endToEndLatencyMs: z.optional(z.number()),
      fallback: z.optional(z.boolean()),
      fallbackReason: z.optional(z.string()),
      hasImage: z.optional(z.boolean()),
      predictedLabel: z.optional(z.string()),
      reasoningBucket: z.optional(z.enum(['low', 'medium', 'high'])),
      routerLatencyMs: z.optional(z.number()),
      routingMethod: z.optional(z.string()),
      stickyOverride: z.optional(z.boolean()),
    }),
  ),
  'session.managed_settings_enforced': ephemeral('A managed setting refused what was asked.', () =>
    openObject({
      action: z.literal('bypass_permissions_blocked'),
      failClosed: z.boolean(),
      message: z.string(),
      setting: z.string(),
      escalation: z.optional(
        z.enum(['allow_all', 'approve_all', 'assisted_approval', 'unrestricted_paths', 'unrestricted_urls']),
      ),
    }),
  ),
  'session.managed_settings_resolved': ephemeral('Which settings an administrator manages.', () =>
    openObject({
      bypassPermissionsDisabled: z.boolean(),
      deviceManaged: z.boolean(),
      failClosed: z.boolean(),
      managedKeys: z.array(z.string()),
      serverManaged: z.boolean(),
      source: z.enum(['server', 'device', 'client', 'mixed', 'none']),
      clientManaged: z.optional(z.boolean()),
      permissionsAllowIntersected: z.optional(z.boolean()),
      settings: z.optional(z.unknown()),
    }),
  ),
  'session.mode_changed': durable('Interactive, plan or autopilot.', () =>
    openObject({ newMode: sessionMode(), previousMode: sessionMode() }),
  ),
  'session.model_change': durable('Another model, or another way to use it.', () =>
    openObject({
      newModel: z.string(),
      cause: z.optional(z.string()),
      contextTier: z.optional(z.nullable(contextTier())),
      previousModel: z.optional(z.string()),
      previousReasoningEffort: z.optional(z.string()),
      previousReasoningSummary: z.optional(reasoningSummary()),
      previousVerbosity: z.optional(verbosity()),
      reasoningEffort: z.optional(z.nullable(z.string())),
      reasoningSummary: z.optional(reasoningSummary()),
      source: z.optional(modelChangeSource()),
      verbosity: z.optional(verbosity()),
    }),
  ),
  'session.permissions_changed': durable('Who answers questions for permission.', () =>
    openObject({
      mode: z.enum(['manual', 'assisted', 'allow-all']),
      previousMode: z.enum(['manual', 'assisted', 'allow-all']),
      assistedApprovalModel: z.optional(z.string()),
    }),
  ),
  'session.session_limits_changed': durable('What the session may spend.', () =>
    openObject({ sessionLimits: z.nullable(sessionLimits()) }),
  ),
};
