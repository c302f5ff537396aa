import * as z from 'zod/mini';
import { method } from '../define.js';
import { nothing, once, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

/** Surfaces that clients bring into a session. */
export const sessionCanvasMethods = {
  'session.canvas.action.invoke': method(
    'Has the client of an open canvas act upon it.',
    () => inSession({ instanceId: z.string(), actionName: z.string(), input: z.optional(z.unknown()) }),
    () => openObject({ result: z.unknown() }),
  ),
  'session.canvas.close': method(
    'Closes an open canvas.',
    () => inSession({ instanceId: z.string() }),
    nothing,
  ),
  'session.canvas.list': method('The canvases that attached clients bring.', sessionRef, () =>
    openObject({ canvases: z.array(discoveredCanvas()) }),
  ),
  'session.canvas.listOpen': method('The canvases that are open; the log keeps them.', sessionRef, () =>
    openObject({ openCanvases: z.array(openCanvas()) }),
  ),
  'session.canvas.open': method(
    'Has the client that brought a canvas show it.',
    () =>
      inSession({
        extensionId: z.optional(z.string()),
        canvasId: z.string(),
        instanceId: z.string(),
        input: z.optional(z.unknown()),
      }),
    () => openCanvas(),
  ),
};

const discoveredCanvas = once(() =>
  openObject({
    extensionId: z.string(),
    extensionName: z.optional(z.string()),
    canvasId: z.string(),
    displayName: z.string(),
    description: z.string(),
  }),
);

const openCanvas = once(() =>
  openObject({
    instanceId: z.string(),
    extensionId: z.string(),
    extensionName: z.optional(z.string()),
    canvasId: z.string(),
    title: z.optional(z.string()),
    status: z.optional(z.string()),
    url: z.optional(z.string()),
    input: z.optional(z.unknown()),
  }),
);
