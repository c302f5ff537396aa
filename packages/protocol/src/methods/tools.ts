import * as z from 'zod/mini';
import { method } from '../define.js';
import { text } from '../fields.js';
import { openObject } from '../schema.js';

/** Tools that no session is needed for. */
export const toolsMethods = {
  'tools.list': method(
    'The built-in tools.',
    () => openObject({ model: z.optional(text()) }),
    () =>
      openObject({
        tools: z.array(
          openObject({
            name: text(),
            namespacedName: z.optional(text()),
            description: text(),
            parameters: z.optional(z.record(text(), z.unknown())),
            instructions: z.optional(text()),
          }),
        ),
      }),
  ),
};
