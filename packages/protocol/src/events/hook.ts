import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';

/** Hooks around the steps of a turn. */
export const hookEvents = {
  'hook.end': durable('A hook answered or failed.', () =>
    openObject({
      hookInvocationId: z.string(),
      hookType: z.string(),
      success: z.boolean(),
      error: z.optional(
        openObject({
          message: z.string(),
          source: z.optional(z.string()),
          stack: z.optional(z.string()),
        }),
      ),
      output: z.optional(z.unknown()),
    }),
  ),
  'hook.progress': ephemeral('A running hook says how far it is.', () =>
    openObject({ message: z.string(), temporary: z.optional(z.boolean()) }),
  ),
  'hook.start': durable('A hook is called.', () =>
    openObject({ hookInvocationId: z.string(), hookType: z.string(), input: z.optional(z.unknown()) }),
  ),
};
