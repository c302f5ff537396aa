import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** The plan of a session: one text that outlives the conversation's window. */
export const sessionPlanMethods = {
  'session.plan.delete': method('Removes the plan.', sessionRef, nothing),
  'session.plan.read': method('The plan, if there is one.', sessionRef, () =>
    openObject({ exists: z.boolean(), content: z.nullable(z.string()), path: z.nullable(z.string()) }),
  ),
  'session.plan.update': method('Writes the plan.', () => inSession({ content: z.string() }), nothing),
};
