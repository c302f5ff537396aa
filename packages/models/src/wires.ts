import type { Wire, WireOptions } from './wire.js';

/** A wire that is there when it is first needed. */
export interface KnownWire {
  /** Where calls go, below the service's base address. */
  readonly path: string;
  /** Calls are messages of a WebSocket. */
  readonly transport?: 'websocket';
  load(options?: WireOptions): Promise<Wire>;
}

/** Every wire by its name. Each is a module of its own: a runtime loads those it speaks. */
export const wires = {
  'openai-chat': {
    path: '/chat/completions',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-chat/wire.js')).openaiChatWire(options),
  },
  'copilot-chat': {
    path: '/chat/completions',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-chat/wire.js')).openaiChatWire({ ...options, dialect: 'copilot' }),
  },
  'openai-responses': {
    path: '/responses',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-responses/wire.js')).openaiResponsesWire(options),
  },
  'openai-responses-socket': {
    path: '/responses',
    transport: 'websocket',
    load: async (options?: WireOptions) =>
      (await import('./wires/openai-responses/wire.js')).responsesSocketWire(options),
  },
  'anthropic-messages': {
    path: '/messages',
    load: async (options?: WireOptions) =>
      (await import('./wires/anthropic-messages/wire.js')).anthropicMessagesWire(options),
  },
} satisfies Readonly<Record<string, KnownWire>>;

export type WireName = keyof typeof wires;
