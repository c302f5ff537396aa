import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';

/** What a session keeps beside the conversation: plan, todos, files, schedules, background tasks. */
export const workEvents = {
  'session.autopilot_objective_changed': durable('What autopilot works towards.', () =>
    openObject({
      operation: z.enum(['create', 'update', 'delete']),
      id: z.optional(z.number()),
      status: z.optional(z.enum(['active', 'paused', 'cap_reached', 'completed'])),
    }),
  ),
  'session.background_tasks_changed': ephemeral('A background task came, went or changed.', () =>
    openObject({}),
  ),
  'session.plan_changed': durable('The plan was written, changed or removed.', () =>
    openObject({ operation: z.enum(['create', 'update', 'delete']) }),
  ),
  'session.schedule_cancelled': durable('A scheduled prompt will not come.', () =>
    openObject({ id: z.number() }),
  ),
  'session.schedule_created': durable('A prompt is scheduled.', () =>
    openObject({
      id: z.number(),
      prompt: z.string(),
      at: z.optional(z.number()),
      cron: z.optional(z.string()),
      displayPrompt: z.optional(z.string()),
      intervalMs: z.optional(z.number()),
      origin: z.optional(z.enum(['user', 'model'])),
      recurring: z.optional(z.boolean()),
      selfPaced: z.optional(z.boolean()),
      tz: z.optional(z.string()),
    }),
  ),
  'session.schedule_rearmed': durable('A scheduled prompt has its next time.', () =>
    openObject({ id: z.number(), nextRunAt: z.number() }),
  ),
  'session.todos_changed': ephemeral('The todo list changed; read it anew.', () => openObject({})),
  'session.workspace_file_changed': durable('A file of the workspace was written.', () =>
    openObject({ operation: z.enum(['create', 'update']), path: z.string() }),
  ),
};
