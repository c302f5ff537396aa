import { randomUUID } from 'node:crypto';
import type { ModelEvent } from '../../model.js';
import { PerConversation } from '../../per-conversation.js';
import type { Wire, WireOptions } from '../../wire.js';
import { EncodingMemory } from '../encoding-memory.js';
import { asFrame, FrameDecoder } from '../frames.js';
import { MessagesAnswer } from './answer.js';
import { encodeMessages } from './encode.js';

/** The Messages API of Anthropic, which others speak as well. */
export function anthropicMessagesWire(options: WireOptions = {}): Wire {
  const { newId = () => `toolu_${randomUUID()}` } = options;
  const memories = new PerConversation(() => new EncodingMemory());
  return {
    encode: (request) => encodeMessages(request, memories.of(request)),
    decode: () => new FrameDecoder(new MessagesAnswer(newId)),
    decodeWhole: (body) => {
      const answer = new MessagesAnswer(newId);
      const events: ModelEvent[] = [];
      answer.addWhole(asFrame(body), events);
      return [...events, ...answer.end({ complete: true })];
    },
  };
}
