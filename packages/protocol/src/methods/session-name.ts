import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** What users call a session. */
export const sessionNameMethods = {
  'session.name.get': method('The name, or null.', sessionRef, () =>
    openObject({ name: z.nullable(z.string()) }),
  ),
  'session.name.set': method(
    'Names the session; no automatic name replaces it.',
    // Empty text passes, for the handler to answer `Session name cannot be empty`.
    () => inSession({ name: z.string() }),
    nothing,
  ),
  'session.name.setAuto': method(
    'Names the session unless it has a name.',
    () => inSession({ summary: z.string() }),
    () => openObject({ applied: z.boolean() }),
  ),
};
