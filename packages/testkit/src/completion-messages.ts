import type { CompletionMessage } from './strict-history.js';

/** A call of any wire, as far as a rule goes by it. */
export interface AskedBody {
  readonly model: string;
  readonly stream?: boolean;
  /** Of chat completions, and of messages. */
  readonly messages?: readonly AskedMessage[];
  /** Of responses. */
  readonly input?: readonly AskedItem[];
}

interface AskedMessage {
  readonly role: CompletionMessage['role'];
  readonly content: unknown;
}

interface AskedItem {
  readonly type: string;
  readonly role?: CompletionMessage['role'];
  readonly content?: unknown;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly output?: string;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly id?: string;
  readonly name?: string;
  readonly input?: unknown;
  readonly tool_use_id?: string;
  readonly content?: unknown;
}

/** The conversation of a call as chat completions have it, whatever its wire; the call has passed its strict service. */
export function completionMessages(body: AskedBody): readonly CompletionMessage[] {
  if (body.input) return body.input.flatMap(messageOfItem);
  return (body.messages ?? []).flatMap(messagesOf);
}

function messageOfItem(item: AskedItem): readonly CompletionMessage[] {
  switch (item.type) {
    case 'message':
      return [{ role: item.role ?? 'user', content: item.content }];
    case 'function_call':
      return [
        { role: 'assistant', content: '', tool_calls: [callOf(item.call_id, item.name, item.arguments)] },
      ];
    case 'function_call_output':
      return [{ role: 'tool', content: item.output, tool_call_id: item.call_id ?? '' }];
    default:
      return [];
  }
}

function messagesOf(message: AskedMessage): readonly CompletionMessage[] {
  if (!Array.isArray(message.content)) return [message];
  const blocks = message.content as readonly Block[];
  const results = blocks.filter(({ type }) => type === 'tool_result');
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  if (results.length === 0 && calls.length === 0) return [message];
  const rest = blocks.filter(({ type }) => type !== 'tool_result' && type !== 'tool_use');
  return [
    ...results.map(
      ({ content, tool_use_id: id = '' }): CompletionMessage => ({ role: 'tool', content, tool_call_id: id }),
    ),
    ...(rest.length > 0 || calls.length > 0
      ? [
          {
            role: message.role,
            content: rest,
            ...(calls.length > 0 && {
              tool_calls: calls.map(({ id, name, input }) => callOf(id, name, JSON.stringify(input))),
            }),
          },
        ]
      : []),
  ];
}

function callOf(id = '', name = '', text = '{}') {
  return { id, function: { name, arguments: text } };
}
