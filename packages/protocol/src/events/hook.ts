import * as z from 'zod';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';

/** Hooks around the steps of a turn. */
export const hookEvents = {
  'hook.end': durable('A hook answered or failed.', () =>
    openObject({
      hookInvocationId: z.string(),
      hookType: z.string(),
      success: z.boolean(),
      error: openObject({
        message: z.string(),
        source: z.string().optional(),
        stack: z.string().optional(),
      }).optional(),
      output: z.unknown().optional(),
    }),
  ),
  'hook.progress': ephemeral('A running hook says how far it is.', () =>
    openObject({ message: z.string(), temporary: z.boolean().optional() }),
  ),
  'hook.start': durable('A hook is called.', () =>
    openObject({ hookInvocationId: z.string(), hookType: z.string(), input: z.unknown().optional() }),
  ),
};
