import { isJson } from './strict-shape.js';

/** A message as chat completions carry it. */
export interface CompletionMessage {
  readonly role: 'system' | 'user' | 'assistant' | 'tool';
  readonly content: unknown;
  readonly tool_call_id?: string;
  readonly tool_calls?: readonly {
    readonly id: string;
    readonly function: { readonly name: string; readonly arguments: string };
  }[];
}

/** Why a strict service would refuse the history; undefined when it would take it. */
export function faultIn(messages: readonly CompletionMessage[]): string | undefined {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const id = message.tool_call_id ?? '';
      if (!open.includes(id))
        return `messages.${index}: a result for ${id}, which no call just before asked for`;
      open = open.filter((each) => each !== id);
      continue;
    }
    if (open.length > 0) return `messages.${index}: the calls ${open.join(', ')} have no result`;
    const ids = (message.tool_calls ?? []).map((call) => call.id);
    for (const id of ids) {
      if (seen.has(id)) return `messages.${index}: the call id ${id} is used twice`;
      seen.add(id);
    }
    const broken = (message.tool_calls ?? []).find((call) => !isJson(call.function.arguments));
    if (broken) return `messages.${index}: the arguments of ${broken.id} are no JSON`;
    open = ids;
  }
  return open.length > 0 ? `the calls ${open.join(', ')} have no result` : undefined;
}
