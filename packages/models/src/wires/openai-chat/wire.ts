import { randomUUID } from 'node:crypto';
import { PerConversation } from '../../per-conversation.js';
import type { Wire, WireOptions } from '../../wire.js';
import { EncodingMemory } from '../encoding-memory.js';
import { FrameDecoder } from '../frames.js';
import { ChatAnswer, decodeWholeChat } from './answer.js';
import { type ChatDialect, encodeChat } from './encode.js';

export interface OpenaiChatOptions extends WireOptions {
  readonly dialect?: ChatDialect;
}

/** Chat completions, as OpenAI began them and most other services speak them. */
export function openaiChatWire(options: OpenaiChatOptions = {}): Wire {
  const { dialect = 'openai', newId = () => `call_${randomUUID()}` } = options;
  const wire = `${dialect}-chat`;
  const memories = new PerConversation(() => new EncodingMemory());
  return {
    encode: (request) => encodeChat(request, dialect, memories.of(request)),
    decode: () => new FrameDecoder(new ChatAnswer({ wire, newId })),
    decodeWhole: (body) => decodeWholeChat(body, { wire, newId }),
  };
}
