import { randomUUID } from 'node:crypto';
import type { ModelEvent, ModelRequest } from '../../model.js';
import type { Wire, WireOptions } from '../../wire.js';
import { asFrame, FrameDecoder } from '../frames.js';
import { ResponsesAnswer } from './answer.js';
import { encodeResponses } from './encode.js';

/** The Responses API of OpenAI, used without its memory: every call carries the whole conversation. */
export function openaiResponsesWire(options: WireOptions = {}): Wire {
  const { newId = () => `call_${randomUUID()}` } = options;
  return {
    encode: encodeResponses,
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
  const encode = (request: ModelRequest) => ({
    type: 'response.create',
    ...encodeResponses({ ...request, stream: false }),
  });
  return { ...openaiResponsesWire(options), encode };
}
