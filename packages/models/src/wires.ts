import { BodyWriter } from './body-writer.js';
import type { ModelRequest } from './model.js';
import type { Wire, WireOptions } from './wire.js';

/** A wire that is there when it is first needed. */
export interface KnownWire {
  readonly name: string;
  /** Where calls go, below the service's base address. */
  readonly path: string;
  /** Calls are messages of a WebSocket. */
  readonly transport?: 'websocket';
  load(options?: WireOptions): Promise<Wire>;
}

/** Every wire by its name. Each is a module of its own: a runtime loads those it speaks. */
export const wires = {
  'openai-chat': {
    name: 'openai-chat',
    path: '/chat/completions',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-chat/wire.js')).openaiChatWire(options),
  },
  'copilot-chat': {
    name: 'copilot-chat',
    path: '/chat/completions',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-chat/wire.js')).openaiChatWire({ ...options, dialect: 'copilot' }),
  },
  'openai-responses': {
    name: 'openai-responses',
    path: '/responses',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-responses/wire.js')).openaiResponsesWire(options),
  },
  'openai-responses-socket': {
    name: 'openai-responses-socket',
    path: '/responses',
    transport: 'websocket',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-responses/wire.js')).responsesSocketWire(options),
  },
  'anthropic-messages': {
    name: 'anthropic-messages',
    path: '/messages',
    load: async (options?: WireOptions) =>
      (await import('./wires/anthropic-messages/wire.js')).anthropicMessagesWire(options),
  },
} satisfies Readonly<Record<string, KnownWire>>;

export type WireName = keyof typeof wires;

/** The body that a wire makes of a request, byte by byte; the request itself for what is no wire. */
export async function requestBody(name: string, request: ModelRequest): Promise<Uint8Array> {
  const known: Readonly<Record<string, KnownWire>> = wires;
  const wire = Object.hasOwn(known, name) ? await known[name]?.load() : undefined;
  const body = wire ? wire.encode(request) : request;
  return Buffer.concat(new BodyWriter().write(body));
}
