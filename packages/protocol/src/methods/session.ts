import * as z from 'zod/mini';
import { sentAttachment } from '../attachment.js';
import { method } from '../define.js';
import { eventEnvelope } from '../events/envelope.js';
import { anything, flag, text } from '../fields.js';
import { nothing, openEnum, openObject } from '../schema.js';
import { agentMode } from '../settings.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** A prompt, as `session.send` takes it. */
function sendParams() {
  return sparseObject({
    // May be missing, for the handler to answer `Missing sessionId in session.send request`.
    sessionId: text,
    // Anything goes: what is no text counts as an empty prompt.
    prompt: anything,
    displayPrompt: text,
    attachments: () => z.array(sentAttachment()),
    /** While a turn runs: a turn of its own afterwards, or a word into the running one. Other modes count as none. */
    mode: () => openEnum(['enqueue', 'immediate']),
    agentMode,
    /** The caller's own id for this prompt: sent twice, it is one turn and one answer. */
    messageId: () => z.string().check(z.minLength(1), z.maxLength(128)),
    requestHeaders: () => z.record(text(), text()),
    /** Whether they stand in the place of the provider's own headers, or beside them. */
    headerMergeStrategy: () => z.enum(['override', 'merge']),
    /** The form that the answer has to have. It comes as `assistant.output`, or the turn ends with an error. */
    output: () =>
      openObject({
        /** A JSON Schema. */
        schema: z.record(z.string(), z.unknown()),
        name: z.optional(z.string().check(z.regex(/^[a-zA-Z0-9_-]{1,64}$/))),
      }),
    /** The same for clients that know it by this name. */
    responseFormat,
    traceparent: text,
    tracestate: text,
    prepend: flag,
    billable: flag,
    requiredTool: text,
    source: text,
    wait: flag,
  });
}

function responseFormat() {
  return openObject({
    type: z.literal('json_schema'),
    jsonSchema: openObject({
      name: z.string(),
      schema: z.record(z.string(), z.unknown()),
      description: z.optional(z.string()),
      strict: z.optional(z.boolean()),
    }),
  });
}

/** Prompts, events and the life of one session. */
export const sessionMethods = {
  'session.abort': method(
    'Stops the running turn and its tools; waiting prompts stay in the queue.',
    () =>
      inSession({
        reason: z.optional(
          openEnum(['user_initiated', 'remote_command', 'user_abort', 'autopilot_credit_limit']),
        ),
      }),
    () => openObject({ success: z.boolean(), error: z.optional(z.string()) }),
  ),
  'session.destroy': method(
    'Detaches this client; the last one to leave closes the session, which stays stored.',
    sessionRef,
    success,
  ),
  'session.detach': method(
    'The same as `session.destroy`, under the name newer clients use.',
    sessionRef,
    () => openObject({ success: flag(), error: z.optional(text()) }),
  ),
  'session.getMessages': method('All durable events, in order.', sessionRef, () =>
    openObject({ events: z.array(eventEnvelope()) }),
  ),
  'session.log': method(
    'Puts a notice into the session, for users to see.',
    () =>
      inSession({
        // May be missing, for the handler to answer `missing parameter 'message'`.
        message: z.optional(z.string()),
        level: z.optional(z.enum(['info', 'warning', 'error'])),
        type: z.optional(z.string()),
        ephemeral: z.optional(z.boolean()),
        url: z.optional(z.string()),
        tip: z.optional(z.string()),
      }),
    () => openObject({ eventId: z.string() }),
  ),
  'session.send': method(
    'Gives the session a prompt; the answer means that it is stored. The turn runs without further requests.',
    sendParams,
    () => openObject({ messageId: z.string() }),
  ),
  'session.sendAndWait': method(
    'Gives the session a prompt and answers when its turn has ended, with the last message of the model.',
    sendParams,
    () =>
      openObject({
        messageId: z.string(),
        /** The turn was stopped, or the prompt taken back before it had one. */
        aborted: z.boolean(),
        /** The event that ended it; none while other prompts follow at once. */
        completionEventId: z.optional(z.string()),
        response: z.optional(eventEnvelope()),
      }),
  ),
  'session.sendMessages': method(
    'Gives the session several messages that one turn answers; without any, the model continues the conversation as it is.',
    () =>
      inSession({
        messages: z.array(
          openObject({
            prompt: z.string(),
            displayPrompt: z.optional(z.string()),
            attachments: z.optional(z.array(sentAttachment())),
            billable: z.optional(z.boolean()),
            requiredTool: z.optional(z.string()),
            source: z.optional(z.string()),
          }),
        ),
        mode: z.optional(openEnum(['enqueue', 'immediate'])),
        agentMode: z.optional(agentMode()),
        prepend: z.optional(z.boolean()),
        requestHeaders: z.optional(z.record(z.string(), z.string())),
        responseFormat: z.optional(responseFormat()),
        traceparent: z.optional(z.string()),
        tracestate: z.optional(z.string()),
        /** The answer comes when the turn has ended. */
        wait: z.optional(z.boolean()),
      }),
    () => openObject({ messageIds: z.array(z.string()) }),
  ),
  'session.interruptMainTurn': method(
    'Ends the turn; agents in the background keep working. Waiting prompts are withdrawn, or come next.',
    () => inSession({ flushQueued: z.optional(z.boolean()) }),
    () => openObject({ interrupted: z.boolean() }),
  ),
  'session.cancelAllBackgroundAgents': method(
    'Stops every agent in the background and answers how many there were; the turn continues.',
    sessionRef,
    () => z.number(),
  ),
  'session.shutdown': method(
    'Closes the session for all of its clients; what is stored stays.',
    () => inSession({ type: z.optional(z.enum(['routine', 'error'])), reason: z.optional(z.string()) }),
    nothing,
  ),
  'session.suspend': method(
    'Ends what runs, cancels open questions, keeps the prompts that wait and starts none.',
    sessionRef,
    nothing,
  ),
};
