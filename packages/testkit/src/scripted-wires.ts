import type { IncomingHttpHeaders } from 'node:http';
import { bodyOf, type ScriptedAnswer, streamOf } from './completion.js';
import { messageOf, messageStreamOf } from './scripted-messages.js';
import { responseOf, responseStreamOf } from './scripted-responses.js';
import { chatFault, copilotFault } from './strict-chat.js';
import { messagesFault } from './strict-messages.js';
import { responsesFault } from './strict-responses.js';

/** An API as a scripted model speaks it, and as strictly as it is checked. */
export interface ScriptedWire {
  /** Why a strict service would refuse the call; undefined when it would take it. */
  faultIn(body: unknown): string | undefined;
  bodyOf(answer: ScriptedAnswer, model: string): unknown;
  /** Server-sent events, one chunk each; without the last two the answer is cut off. */
  streamOf(answer: ScriptedAnswer, model?: string): readonly string[];
}

/** The API that is called; what is not known is chat completions, in the tongue of who asks. */
export function scriptedWireFor(call: {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}): ScriptedWire {
  const [route = ''] = call.path.split('?');
  if (route.endsWith('/responses')) return responses;
  if (route.endsWith('/messages')) return messages;
  return call.headers['copilot-integration-id'] === undefined ? chat : copilot;
}

const chat: ScriptedWire = { faultIn: chatFault, bodyOf, streamOf };
const copilot: ScriptedWire = { ...chat, faultIn: copilotFault };

const responses: ScriptedWire = {
  faultIn: responsesFault,
  bodyOf: responseOf,
  streamOf: responseStreamOf,
};

const messages: ScriptedWire = {
  faultIn: messagesFault,
  bodyOf: messageOf,
  streamOf: messageStreamOf,
};
