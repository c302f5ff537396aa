import { randomUUID } from 'node:crypto';
import type { Wire } from '../../wire.js';
import { decodeChat, decodeWholeChat } from './decode.js';
import { type ChatDialect, encodeChat } from './encode.js';

export interface OpenaiChatOptions {
  readonly dialect?: ChatDialect;
  /** Ids for tool calls that came without one. */
  readonly newId?: () => string;
}

/** Chat completions, as OpenAI began them and most other services speak them. */
export function openaiChatWire(options: OpenaiChatOptions = {}): Wire {
  const { dialect = 'openai', newId = () => `call_${randomUUID()}` } = options;
  return {
    path: '/chat/completions',
    encode: (request) => encodeChat(request, dialect),
    decode: (frames) => decodeChat(frames, newId),
    decodeWhole: (body) => decodeWholeChat(body, newId),
  };
}
