import * as z from 'zod/mini';
import { method } from '../define.js';
import { once, openObject } from '../schema.js';

const execution = once(() =>
  openObject({
    sessionId: z.string(),
    name: z.string(),
    runId: z.string(),
    executionToken: z.string(),
    args: z.unknown(),
  }),
);

/** The client runs the body of a factory, or of a workflow, as newer clients call it. */
export const factoryCallbacks = {
  'factory.abort': method(
    'A run is no longer wanted.',
    () => openObject({ sessionId: z.string(), runId: z.string() }),
    () => z.unknown(),
  ),
  'factory.execute': method(
    'Runs a body to its end; the token goes with what it asks of the runtime meanwhile.',
    execution,
    () => openObject({ result: z.optional(z.unknown()) }),
  ),
  'workflow.abort': method(
    'An attempt is no longer wanted.',
    () => openObject({ sessionId: z.string(), runId: z.string(), executionToken: z.string() }),
    () => z.unknown(),
  ),
  'workflow.execute': method(
    'Runs a body to its end; the token goes with what it asks of the runtime meanwhile.',
    execution,
    () => openObject({ result: z.optional(z.unknown()) }),
  ),
};
