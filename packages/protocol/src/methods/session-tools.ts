import * as z from 'zod';
import { clientToolResult } from '../content.js';
import { method } from '../define.js';
import { openObject } from '../schema.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** Tools as clients see and serve them. */
export const sessionToolsMethods = {
  'session.tools.getCurrentMetadata': method(
    'The tools the model sees; null before the first turn.',
    sessionRef,
    () =>
      openObject({
        tools: z
          .array(
            openObject({
              name: z.string(),
              description: z.string(),
              namespacedName: z.string().optional(),
              mcpServerName: z.string().optional(),
              mcpToolName: z.string().optional(),
              input_schema: z.record(z.string(), z.unknown()).optional(),
              deferLoading: z.boolean().optional(),
            }),
          )
          .nullable(),
      }),
  ),
  'session.tools.handlePendingToolCall': method(
    "Answers a call of a client's tool; false tells that somebody did before. Neither result nor error is an empty result.",
    () =>
      inSession({
        requestId: z.string(),
        result: z.union([z.string(), clientToolResult()]).optional(),
        error: z.string().optional(),
      }),
    success,
  ),
};
