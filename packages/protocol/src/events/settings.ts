import * as z from 'zod';
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

/** What a session is told to be: model, mode, permissions, limits, what clients contribute. */
export const settingsEvents = {
  'capabilities.changed': ephemeral('What the attached clients can show has changed.', () =>
    openObject({
      ui: openObject({
        canvases: z.boolean().optional(),
        elicitation: z.boolean().optional(),
        mcpApps: z.boolean().optional(),
      }).optional(),
    }),
  ),
  'commands.changed': ephemeral('The commands of the attached clients have changed.', () =>
    openObject({ commands: z.array(openObject({ name: z.string(), description: z.string().optional() })) }),
  ),
  'session.auto_mode_resolved': durable('The automatic choice of a model fell on one.', () =>
    openObject({
      chosenModel: z.string(),
      availableModels: z.array(z.string()).optional(),
      candidateModels: z.array(z.string()).optional(),
      categoryScores: z.record(z.string(), z.number()).optional(),
      chosenShortfall: z.number().optional(),
      confidence: z.number().optional(),
      endToEndLatencyMs: z.number().optional(),
      fallback: z.boolean().optional(),
      fallbackReason: z.string().optional(),
      hasImage: z.boolean().optional(),
      predictedLabel: z.string().optional(),
      reasoningBucket: z.enum(['low', 'medium', 'high']).optional(),
      routerLatencyMs: z.number().optional(),
      routingMethod: z.string().optional(),
      stickyOverride: z.boolean().optional(),
    }),
  ),
  'session.managed_settings_enforced': ephemeral('A managed setting refused what was asked.', () =>
    openObject({
      action: z.literal('bypass_permissions_blocked'),
      failClosed: z.boolean(),
      message: z.string(),
      setting: z.string(),
      escalation: z
        .enum(['allow_all', 'approve_all', 'assisted_approval', 'unrestricted_paths', 'unrestricted_urls'])
        .optional(),
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
      clientManaged: z.boolean().optional(),
      permissionsAllowIntersected: z.boolean().optional(),
      settings: z.unknown().optional(),
    }),
  ),
  'session.mode_changed': durable('Interactive, plan or autopilot.', () =>
    openObject({ newMode: sessionMode(), previousMode: sessionMode() }),
  ),
  'session.model_change': durable('Another model, or another way to use it.', () =>
    openObject({
      newModel: z.string(),
      cause: z.string().optional(),
      contextTier: contextTier().nullable().optional(),
      previousModel: z.string().optional(),
      previousReasoningEffort: z.string().optional(),
      previousReasoningSummary: reasoningSummary().optional(),
      previousVerbosity: verbosity().optional(),
      reasoningEffort: z.string().nullable().optional(),
      reasoningSummary: reasoningSummary().optional(),
      source: modelChangeSource().optional(),
      verbosity: verbosity().optional(),
    }),
  ),
  'session.permissions_changed': durable('Who answers questions for permission.', () =>
    openObject({
      mode: z.enum(['manual', 'assisted', 'allow-all']),
      previousMode: z.enum(['manual', 'assisted', 'allow-all']),
      assistedApprovalModel: z.string().optional(),
    }),
  ),
  'session.session_limits_changed': durable('What the session may spend.', () =>
    openObject({ sessionLimits: sessionLimits().nullable() }),
  ),
};
