import { inferenceHeaders } from '../callbacks/inference.js';
import { method } from '../define.js';
import { flag, number, text } from '../fields.js';
import { once, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
import { success } from './session-ref.js';

/** A client that makes the runtime's model calls. */
export const llmInferenceMethods = {
  'llmInference.httpResponseChunk': method(
    'Bytes of the answer, base64 if `binary`; `end` with the last of them, `error` if it cannot be had.',
    () =>
      sparseObject(
        {
          binary: flag,
          end: flag,
          error: () => sparseObject({ code: text }, { message: text }),
        },
        { requestId: text, data: text },
      ),
    () => accepted(),
  ),
  'llmInference.httpResponseStart': method(
    'Status and headers of the answer; false for a call that no caller waits for.',
    () => sparseObject({ statusText: text, headers: inferenceHeaders }, { requestId: text, status: number }),
    () => accepted(),
  ),
  'llmInference.setProvider': method(
    'This connection makes all model calls of the runtime from now on, as long as it lasts.',
    () => openObject({}),
    success,
  ),
};

const accepted = once(() => openObject({ accepted: flag() }));
