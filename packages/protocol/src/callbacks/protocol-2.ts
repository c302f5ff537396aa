import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';

/** What clients of protocol 2 are asked by requests; those of protocol 3 get events and answer with methods. */
export const protocol2Callbacks = {
  'permission.request': method(
    'Protocol 2: may this run? Clients of protocol 3 get `permission.requested`.',
    () => openObject({ sessionId: z.string(), permissionRequest: z.record(z.string(), z.unknown()) }),
    () => openObject({ result: openObject({ kind: z.string() }) }),
  ),
  'tool.call': method(
    'Protocol 2: runs a tool of the client. Clients of protocol 3 get `external_tool.requested`.',
    () =>
      openObject({
        sessionId: z.string(),
        toolCallId: z.string(),
        toolName: z.string(),
        arguments: z.optional(z.unknown()),
      }),
    () => openObject({ result: z.optional(z.unknown()) }),
  ),
};
