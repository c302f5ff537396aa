import { randomUUID } from 'node:crypto';
import type { ModelEvent, ModelRequest } from '../../model.js';
import { PerConversation } from '../../per-conversation.js';
import type { Wire, WireOptions } from '../../wire.js';
import { EncodingMemory } from '../encoding-memory.js';
import { asFrame, FrameDecoder } from '../frames.js';
import { ResponsesAnswer } from './answer.js';
import { encodeResponses } from './encode.js';

/** The Responses API of OpenAI, used without its memory: every call carries the whole conversation. */
export function openaiResponsesWire(options: WireOptions = {}): Wire {
  const { newId = () => `call_${randomUUID()}` } = options;
  const memories = new PerConversation(() => new EncodingMemory());
  return {
    encode: (request) => encodeResponses(request, memories.of(request)),
    decode: () => new FrameDecoder(new ResponsesAnswer(newId)),
    decodeWhole: (body) => {
      const answer = new ResponsesAnswer(newId);
      const events: ModelEvent[] = [];
      answer.addWhole(asFrame(body), events);
      return [...events, ...answer.end({ complete: true })];
    },
  };
}

/** The same API over a WebSocket: a call is a message, and so is each event of its answer. */
export function responsesSocketWire(options: WireOptions = {}): Wire {
  const wire = openaiResponsesWire(options);
  const encode = (request: ModelRequest) => ({
    type: 'response.create',
    ...wire.encode({ ...request, stream: false }),
  });
  return { ...wire, encode };
}
