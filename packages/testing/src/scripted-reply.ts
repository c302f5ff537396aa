import type { IncomingHttpHeaders } from 'node:http';
import type { Message } from './conversation.js';
import type { Json } from './json.js';
import type { WireName } from './wires/wire.js';

/** One call as it reached a scripted model. */
export interface AskedModel {
  readonly wire: WireName;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The request as it came. */
  readonly body: Json;
  /** The conversation in it, the same whichever API it came by. */
  readonly messages: readonly Message[];
}

/** A tool call of a scripted answer; arguments given as text are sent as they are. */
export interface ScriptedCall {
  readonly name: string;
  readonly arguments?: unknown;
  /** `call_1`, `call_2` and so on unless given. */
  readonly id?: string;
}

/** What a scripted model says in one call. */
export interface ScriptedAnswer {
  readonly thoughts?: readonly string[];
  /** The text, in the pieces it is streamed in. */
  readonly pieces?: readonly string[];
  readonly calls?: readonly ScriptedCall[];
}

/** What a scripted model does with one call; a function decides when it is asked. */
export type ScriptedReply =
  | ({ readonly type: 'answer' } & ScriptedAnswer)
  | {
      readonly type: 'failure';
      readonly status: number;
      readonly message: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  /** Any answer of HTTP, as it is. */
  | {
      readonly type: 'status';
      readonly status: number;
      readonly body: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  /** Says these pieces, then breaks the connection. */
  | { readonly type: 'hangUp'; readonly pieces: readonly string[] }
  | { readonly type: 'after'; readonly ready: Promise<unknown>; readonly reply: ScriptedReply }
  | ((asked: AskedModel) => ScriptedReply | Promise<ScriptedReply>);

/** An answer of one text; several are the pieces it is streamed in. */
export function say(...pieces: readonly string[]): ScriptedReply {
  return { type: 'answer', pieces };
}

/** An answer that asks for tools, side by side. */
export function callTools(...calls: readonly ScriptedCall[]): ScriptedReply {
  return { type: 'answer', calls };
}

/** Any answer: thoughts, text and calls together. */
export function answer(parts: ScriptedAnswer): ScriptedReply {
  return { type: 'answer', ...parts };
}

/** An HTTP failure with a reason. */
export function refuse(
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): ScriptedReply {
  return { type: 'failure', status, message, headers };
}

/** Breaks the connection after these pieces. */
export function hangUp(...pieces: readonly string[]): ScriptedReply {
  return { type: 'hangUp', pieces };
}

/** Keeps the caller waiting until the promise is settled: no test needs to sleep. */
export function after(ready: Promise<unknown>, reply: ScriptedReply): ScriptedReply {
  return { type: 'after', ready, reply };
}
