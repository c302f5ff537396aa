import * as z from 'zod/mini';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';

/** Hooks of files, whether or not a session is open. */
export const hooksMethods = {
  'hooks.discover': method(
    "The hooks that files hold: the user's own, and those of projects.",
    () =>
      openObject({
        projectPaths: z.optional(z.array(z.string())),
        excludeHostHooks: z.optional(z.boolean()),
      }),
    () =>
      openObject({
        hooks: z.array(
          openObject({
            id: z.string(),
            hookType: z.string(),
            origin: openEnum(['user', 'repository', 'plugin', 'policy']),
            source: z.optional(z.string()),
            projectPath: z.optional(z.string()),
            /** Whether every session runs it; where not, sessions do that enable hooks of files. */
            enabled: z.boolean(),
            disableKey: z.optional(z.string()),
          }),
        ),
        warnings: z.array(z.string()),
        errors: z.array(z.string()),
      }),
  ),
};
