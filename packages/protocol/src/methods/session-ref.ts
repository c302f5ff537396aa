import * as z from 'zod/mini';
import { once, openObject } from '../schema.js';

/** Params of a method that needs nothing but its session. */
export const sessionRef = once(() => inSession({}));

/** Params of a method of one session. */
export function inSession<const S extends z.core.$ZodLooseShape>(shape: S) {
  return openObject({ sessionId: z.string(), ...shape });
}

/** Whether it was done; what failed to be done is no error. */
export const success = once(() => openObject({ success: z.boolean() }));
