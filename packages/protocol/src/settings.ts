import * as z from 'zod/mini';
import { once, openObject, type Value } from './schema.js';

/** How much of a model's window a session may use. */
export const contextTier = once(() => z.enum(['default', 'long_context']));

/** How much of its reasoning a model shows. */
export const reasoningSummary = once(() => z.enum(['none', 'concise', 'detailed']));

/** How long a model answers. */
export const verbosity = once(() => z.enum(['low', 'medium', 'high']));

/** What a session may do by itself. */
export const sessionMode = once(() => z.enum(['interactive', 'plan', 'autopilot']));

/** One of the modes. */
export type SessionMode = Value<typeof sessionMode>;

/** The mode one message is answered in. */
export const agentMode = once(() => z.enum(['interactive', 'plan', 'autopilot', 'shell']));

/** Where a session works; `cwd` alone when it is not a repository. */
export const workingDirectoryContext = once(() =>
  openObject({
    cwd: z.string(),
    baseCommit: z.optional(z.string()),
    branch: z.optional(z.string()),
    gitRoot: z.optional(z.string()),
    headCommit: z.optional(z.string()),
    hostType: z.optional(z.enum(['github', 'ado'])),
    pendingGitContext: z.optional(z.boolean()),
    repository: z.optional(z.string()),
    repositoryHost: z.optional(z.string()),
  }),
);

/** Where a session works. */
export type WorkingDirectoryContext = Value<typeof workingDirectoryContext>;

/** What a session may spend on models in all: AI credits are hundredths of a US dollar, `maxCost` is dollars. */
export const sessionLimits = once(() =>
  openObject({
    maxAiCredits: z.optional(z.number()),
    maxCost: z.optional(z.number()),
    maxTokens: z.optional(z.number()),
    maxCalls: z.optional(z.number()),
  }),
);

/** Who changed the model. */
export const modelChangeSource = once(() =>
  z.enum([
    'model_command',
    'settings_command',
    'config_command',
    'model_picker',
    'managed_settings',
    'repo_settings',
    'startup',
    'agent',
    'plan_mode',
    'automatic',
    'sdk',
  ]),
);

/** What may follow a plan. */
export const exitPlanAction = once(() =>
  z.enum(['exit_only', 'interactive', 'autopilot', 'autopilot_fleet']),
);
