import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';

/** The client knows more of its tools' arguments than a JSON Schema can say. */
export const toolArgumentCallbacks = {
  'toolArguments.check': method(
    'Do these arguments fit the tool? Asked before permission for the call is, of a client whose tool `checksArguments`.',
    () =>
      openObject({
        sessionId: z.string(),
        toolCallId: z.string(),
        toolName: z.string(),
        arguments: z.unknown(),
      }),
    () => openObject({ valid: z.boolean(), reason: z.nullish(z.string()) }),
  ),
};
