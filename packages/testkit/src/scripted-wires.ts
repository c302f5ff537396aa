import type { IncomingHttpHeaders } from 'node:http';
import {
  type ScriptedAnswer,
  type ScriptedCall,
  type WireName,
  writeEvents,
  writeWhole,
} from '@groundcrew/testing';
import { chatFault, copilotFault } from './strict-chat.js';
import { messagesFault } from './strict-messages.js';
import { responsesFault } from './strict-responses.js';
import { sealOf } from './strict-shape.js';

/** What a scripted model says in one call. */
export interface SpokenParts {
  readonly reasoning?: readonly string[];
  /** The text, in the pieces it is streamed in. */
  readonly chunks?: readonly string[];
  readonly calls?: readonly ScriptedCall[];
}

/** An API as a scripted model speaks it, and as strictly as it is checked. */
export interface ScriptedWire {
  /** Why a strict service would refuse the call; undefined when it would take it. */
  faultIn(body: unknown): string | undefined;
  bodyOf(said: SpokenParts, model: string): unknown;
  /** Server-sent events, one chunk each. */
  streamOf(said: SpokenParts, model?: string): readonly string[];
}

/** The API of a call. Any other path is chat completions; a header tells those of the Copilot API apart. */
export function scriptedWireFor(call: {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}): ScriptedWire {
  const [route = ''] = call.path.split('?');
  if (route.endsWith('/responses')) return responses;
  if (route.endsWith('/messages')) return messages;
  return call.headers['copilot-integration-id'] === undefined ? chat : copilot;
}

/** The same as the scripts of apps say it. */
export function spoken({ reasoning, chunks, calls }: SpokenParts): ScriptedAnswer {
  return {
    ...(reasoning && { thoughts: reasoning }),
    ...(chunks && { pieces: chunks }),
    ...(calls && { calls }),
  };
}

/** Figures in which every kind of token is distinguished, where the API has them. */
export const scriptedUsage = {
  'openai-chat': { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  'openai-responses': {
    input_tokens: 7,
    input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 1 },
    total_tokens: 10,
  },
  'anthropic-messages': {
    input_tokens: 4,
    cache_creation_input_tokens: 1,
    cache_read_input_tokens: 2,
    output_tokens: 3,
  },
} satisfies Readonly<Record<WireName, object>>;

function wireOf(wire: WireName, faultIn: ScriptedWire['faultIn']): ScriptedWire {
  const call = (model: string) => ({ wire, model, number: 1, usage: scriptedUsage, seal: sealOf });
  return {
    faultIn,
    bodyOf: (said, model) => writeWhole(spoken(said), call(model)),
    streamOf: (said, model = 'scripted') => writeEvents(spoken(said), call(model)),
  };
}

const chat = wireOf('openai-chat', chatFault);
const copilot = wireOf('openai-chat', copilotFault);
const responses = wireOf('openai-responses', responsesFault);
const messages = wireOf('anthropic-messages', messagesFault);
