import type { Methods } from '@groundcrew/protocol';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.canvas.${string}`>;

export const sessionCanvasHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.canvas.list'(_params, { session }) {
    return { canvases: session.canvases.list() };
  },
  async 'session.canvas.listOpen'(_params, { session }) {
    return { openCanvases: await session.canvases.listOpen() };
  },
  'session.canvas.open': (params, { session, signal }) => session.canvases.open(params, signal),
  async 'session.canvas.action.invoke'(params, { session, signal }) {
    return { result: await session.canvases.invoke(params, signal) };
  },
  async 'session.canvas.close'({ instanceId }, { session, signal }) {
    await session.canvases.close(instanceId, signal);
    return null;
  },
};
