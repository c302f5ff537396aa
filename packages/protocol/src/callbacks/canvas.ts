import * as z from 'zod/mini';
import { method } from '../define.js';
import { openObject } from '../schema.js';

/** The client shows a canvas and acts upon it. */
export const canvasCallbacks = {
  'canvas.action.invoke': method(
    'Acts upon an open canvas; answers whatever the action yields.',
    () => openObject({ ...place(), actionName: z.string(), input: z.optional(z.unknown()) }),
    () => z.unknown(),
  ),
  'canvas.close': method(
    'A canvas is no longer wanted.',
    () => openObject(place()),
    () => z.unknown(),
  ),
  'canvas.open': method(
    'Shows a canvas; answers where it is.',
    () => openObject({ ...place(), input: z.optional(z.unknown()) }),
    () =>
      openObject({
        url: z.optional(z.string()),
        title: z.optional(z.string()),
        status: z.optional(z.string()),
      }),
  ),
};

const place = () => ({
  sessionId: z.string(),
  extensionId: z.string(),
  canvasId: z.string(),
  instanceId: z.string(),
  session: z.optional(openObject({ workingDirectory: z.optional(z.string()) })),
});
