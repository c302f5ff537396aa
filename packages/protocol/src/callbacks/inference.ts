import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text } from '../fields.js';
import { once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';

/** The client makes the runtime's model calls: the request goes out to it, its methods bring the answer. */
export const inferenceCallbacks = {
  'llmInference.httpRequestChunk': method(
    'Bytes of the request; `end` with the last of them, `cancel` when no caller waits for the answer any more.',
    () =>
      sparseObject(
        { binary: flag, end: flag, cancel: flag, cancelReason: text },
        { requestId: text, data: text },
      ),
    () => openObject({}),
  ),
  'llmInference.httpRequestStart': method(
    'A model call to make; its body follows.',
    () =>
      sparseObject(
        {
          /** Absent for calls that no session makes, such as the question for models. */
          sessionId: text,
          transport: () => z.enum(['http', 'websocket']),
          agentId: text,
          parentAgentId: text,
          interactionType: text,
        },
        { requestId: text, method: text, url: text, headers: inferenceHeaders },
      ),
    () => openObject({}),
  ),
};

/** Header values by name; what comes several times is several values. */
export const inferenceHeaders = once(() => z.record(z.string(), z.array(z.string())));
