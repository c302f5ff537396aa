import * as z from 'zod/mini';
import { method } from '../define.js';
import { eventEnvelope } from '../events/envelope.js';
import { openObject } from '../schema.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** The log by cursor: how a client reads on without a gap. */
export const sessionEventLogMethods = {
  'session.eventLog.read': method(
    'A page of events after the cursor; waits up to `waitMs` for the first one.',
    () =>
      inSession({
        cursor: z.optional(z.string()),
        max: z.optional(z.int().check(z.positive())),
        waitMs: z.optional(z.number().check(z.nonnegative())),
        types: z.optional(z.union([z.literal('*'), z.array(z.string()).check(z.minLength(1))])),
        agentScope: z.optional(z.enum(['primary', 'all'])),
        agentIds: z.optional(z.array(z.string()).check(z.minLength(1))),
        direction: z.optional(z.enum(['forward', 'backward'])),
        includeEphemeral: z.optional(z.boolean()),
      }),
    () =>
      openObject({
        events: z.array(eventEnvelope()),
        cursor: z.string(),
        hasMore: z.boolean(),
        cursorStatus: z.enum(['ok', 'expired']),
      }),
  ),
  'session.eventLog.registerInterest': method(
    'Asks for events that are only sent to clients that ask for them.',
    () => inSession({ eventType: z.string() }),
    () => openObject({ handle: z.string() }),
  ),
  'session.eventLog.releaseInterest': method(
    'Ends an interest that was registered.',
    () => inSession({ handle: z.string() }),
    success,
  ),
  'session.eventLog.tail': method('The cursor after the last event.', sessionRef, () =>
    openObject({ cursor: z.string() }),
  ),
};
