import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef } from './session-ref.js';

const entry = once(() =>
  openObject({
    id: z.number(),
    intervalMs: z.optional(z.number()),
    cron: z.optional(z.string()),
    tz: z.optional(z.string()),
    at: z.optional(z.number()),
    prompt: z.string(),
    recurring: z.boolean(),
    displayPrompt: z.optional(z.string()),
    nextRunAt: z.string(),
  }),
);

/** A schedule, or why there is none. */
const added = once(() => openObject({ entry: z.optional(entry()), error: z.optional(z.string()) }));

/** Prompts that come by themselves. */
export const sessionScheduleMethods = {
  'session.schedule.add': method(
    'A prompt that comes again after each interval: 30s, 5m, 2h, 1d.',
    () =>
      sparseObject(
        { displayPrompt: text, recurring: flag },
        { sessionId: text, interval: text, prompt: text },
      ),
    added,
  ),
  'session.schedule.addAt': method(
    'A prompt that comes once, at a time in milliseconds since 1970.',
    () => sparseObject({ displayPrompt: text, at: () => z.number() }, { sessionId: text, prompt: text }),
    added,
  ),
  'session.schedule.addCron': method(
    'A prompt that comes at the times of a cron expression, in a time zone.',
    () =>
      sparseObject(
        { displayPrompt: text, recurring: flag, tz: text },
        { sessionId: text, cron: text, prompt: text },
      ),
    added,
  ),
  'session.schedule.list': method('The scheduled prompts.', sessionRef, () =>
    openObject({ entries: z.array(entry()) }),
  ),
  'session.schedule.stop': method(
    'Removes a scheduled prompt; without `entry` when there is none of this number.',
    () => inSession({ id: z.number() }),
    () => openObject({ entry: z.optional(entry()) }),
  ),
};
