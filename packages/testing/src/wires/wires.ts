import { chatWire } from './chat.js';
import { messagesWire } from './messages.js';
import { responsesWire } from './responses.js';
import type { Wire, WireName } from './wire.js';

/** The wire of this name. */
export function wireNamed(name: WireName): Wire {
  return wires[name];
}

/** Which API a path belongs to; undefined for one that is no model call. */
export function wireNameOf(path: string): WireName | undefined {
  const [route = ''] = path.split('?');
  return routes.find(([ending]) => route.endsWith(ending))?.[1];
}

const wires: Readonly<Record<WireName, Wire>> = {
  'openai-chat': chatWire,
  'openai-responses': responsesWire,
  'anthropic-messages': messagesWire,
};

const routes: readonly (readonly [string, WireName])[] = [
  ['/chat/completions', 'openai-chat'],
  ['/responses', 'openai-responses'],
  ['/messages', 'anthropic-messages'],
];
