import type { Message } from './conversation.js';
import { parseJson } from './json.js';

/** Why a strict service would refuse the conversation; undefined when it would take it. */
export function faultIn(messages: readonly Message[]): string | undefined {
  const seen = new Set<string>();
  let open: readonly string[] = [];
  for (const [index, message] of messages.entries()) {
    const place = `message ${index + 1}`;
    if (message.role === 'tool') {
      const { callId } = message;
      if (!open.includes(callId))
        return `${place}: a result for ${callId}, which no call just before asked for`;
      open = open.filter((each) => each !== callId);
      continue;
    }
    if (open.length > 0) return `${place}: the calls ${open.join(', ')} have no result`;
    if (message.role !== 'assistant') continue;
    for (const { id, argumentsText } of message.calls) {
      if (seen.has(id)) return `${place}: the call id ${id} is used twice`;
      if (parseJson(argumentsText) === undefined) return `${place}: the arguments of ${id} are no JSON`;
      seen.add(id);
    }
    open = message.calls.map(({ id }) => id);
  }
  return open.length > 0 ? `the calls ${open.join(', ')} have no result` : undefined;
}
