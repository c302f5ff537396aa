import type { CallOrigin } from './model.js';

export interface HttpRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** In UTF-8, in pieces: a long conversation is not copied for every call of its own. */
  readonly body?: readonly Uint8Array[];
  /** The address is opened as a WebSocket: `body` is the one message to it, each piece of the answer one from it. */
  readonly transport?: 'websocket';
  /** What the call is for, for whoever makes it in our place; nothing of it is sent. */
  readonly origin?: CallOrigin;
}

export interface HttpResponse {
  readonly status: number;
  /** Names in lower case; what came several times is joined by commas. */
  readonly headers: Readonly<Record<string, string>>;
  /** May be iterated once. Leaving early gives the connection up. */
  readonly body: AsyncIterable<Uint8Array>;
}

/** How a call gets to its service and back; a client that makes the calls itself stands here too. */
export type Exchange = (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse>;

/** Milliseconds each step of a call may take. */
export interface TimeLimits {
  /** To connect and to hand the whole request over. */
  readonly send: number;
  /** From then to the first byte of the answer; a model that does not stream thinks all this time. */
  readonly firstByte: number;
  /** Between two reads of the answer. */
  readonly idle: number;
}
