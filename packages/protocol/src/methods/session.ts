import * as z from 'zod';
import { sentAttachment } from '../attachment.js';
import { method } from '../define.js';
import { eventEnvelope } from '../events/envelope.js';
import { nothing, openEnum, openObject } from '../schema.js';
import { agentMode } from '../settings.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** One session: what is said to it. */
export const sessionMethods = {
  'session.abort': method(
    'Stops the running turn and its tools; prompts that wait go on waiting their turn.',
    () =>
      inSession({
        reason: openEnum([
          'user_initiated',
          'remote_command',
          'user_abort',
          'autopilot_credit_limit',
        ]).optional(),
      }),
    () => openObject({ success: z.boolean(), error: z.string().optional() }),
  ),
  'session.destroy': method(
    'Detaches this client; the last one to leave closes the session, which stays stored.',
    sessionRef,
    success,
  ),
  'session.getMessages': method('All durable events, in order.', sessionRef, () =>
    openObject({ events: z.array(eventEnvelope()) }),
  ),
  'session.log': method(
    'Puts a notice into the session, for people to see.',
    () =>
      inSession({
        // May be missing, for the handler to answer `missing parameter 'message'`.
        message: z.string().optional(),
        level: z.enum(['info', 'warning', 'error']).optional(),
        type: z.string().optional(),
        ephemeral: z.boolean().optional(),
        url: z.string().optional(),
        tip: z.string().optional(),
      }),
    () => openObject({ eventId: z.string() }),
  ),
  'session.send': method(
    'Gives the session a prompt; the answer means that it is stored, the turn goes on alone.',
    () =>
      openObject({
        // May be missing, for the handler to answer `Missing sessionId in session.send request`.
        sessionId: z.string().optional(),
        // Anything goes: what is no text counts as an empty prompt.
        prompt: z.unknown().optional(),
        displayPrompt: z.string().optional(),
        attachments: z.array(z.lazy(sentAttachment)).optional(),
        /** While a turn runs: a turn of its own afterwards, or a word into the running one. */
        mode: z.enum(['enqueue', 'immediate']).optional(),
        agentMode: agentMode().optional(),
        /** The caller's own id for this prompt: sent twice, it is one turn and one answer. */
        messageId: z.string().min(1).max(128).optional(),
        requestHeaders: z.record(z.string(), z.string()).optional(),
        traceparent: z.string().optional(),
        tracestate: z.string().optional(),
        prepend: z.boolean().optional(),
        billable: z.boolean().optional(),
        requiredTool: z.string().optional(),
        source: z.string().optional(),
        wait: z.boolean().optional(),
      }),
    () => openObject({ messageId: z.string() }),
  ),
  'session.suspend': method(
    'Ends what runs, cancels open questions, keeps the prompts that wait and starts none.',
    sessionRef,
    nothing,
  ),
};
