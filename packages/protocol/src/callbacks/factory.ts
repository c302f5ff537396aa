import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';

/** The client runs the body of a factory, or of a workflow, as newer clients call it. */
export const factoryCallbacks = {
  'factory.abort': method(
    'A run is no longer wanted.',
    () => openObject({ sessionId: z.string(), runId: z.string() }),
    () => z.unknown(),
  ),
  'factory.execute': method(
    'Runs a body to its end; the token goes with what it asks of the runtime meanwhile.',
    () =>
      openObject({
        sessionId: z.string(),
        name: z.string(),
        runId: z.string(),
        executionToken: z.string(),
        args: z.unknown(),
      }),
    () => openObject({ result: z.optional(z.unknown()) }),
  ),
  'workflow.abort': method(
    'An attempt is no longer wanted.',
    () => openObject({ sessionId: z.string(), runId: z.string(), executionToken: z.string() }),
    () => z.unknown(),
  ),
  'workflow.execute': method(
    'Runs a body to its end; the token goes with what it asks of the runtime meanwhile.',
    () =>
      openObject({
        sessionId: z.string(),
        name: z.string(),
        runId: z.string(),
        executionToken: z.string(),
        args: z.unknown(),
      }),
    () => openObject({ result: z.optional(z.unknown()) }),
  ),
};
