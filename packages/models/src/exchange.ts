import type { HttpResponse, HttpRequest as PlainRequest } from '@groundcrew/http-client';
import type { CallOrigin } from './model.js';

export type { HttpResponse, TimeLimits } from '@groundcrew/http-client';

export interface HttpRequest extends PlainRequest {
  /** The address is opened as a WebSocket: `body` is the one message to it, each piece of the answer one from it. */
  readonly transport?: 'websocket';
  /** What the call is for, for a client that makes it in our place; nothing of it is sent. */
  readonly origin?: CallOrigin;
}

/** How a call gets to its service and back; a client that makes the calls itself stands here too. */
export type Exchange = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;
