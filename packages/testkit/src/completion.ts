/** A tool call of a scripted answer; arguments given as text are sent as they are. */
export interface ScriptedCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: unknown;
}

/** What a scripted model says in one call. */
export interface ScriptedAnswer {
  readonly type: 'answer';
  readonly reasoning?: readonly string[];
  /** The text, in the pieces it is streamed in. */
  readonly chunks: readonly string[];
  readonly calls: readonly ScriptedCall[];
}

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };

/** The answer as one JSON body. */
export function bodyOf(answer: ScriptedAnswer, model: string): unknown {
  const text = answer.chunks.join('');
  const toolCalls = answer.calls.map(toolCallOf);
  const message = {
    role: 'assistant',
    content: text === '' && toolCalls.length > 0 ? null : text,
    ...(answer.reasoning && { reasoning_content: answer.reasoning.join('') }),
    ...(toolCalls.length > 0 && { tool_calls: toolCalls }),
  };
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    model,
    choices: [{ index: 0, message, finish_reason: finishOf(answer) }],
    usage,
  };
}

/** The answer as server-sent events, one chunk each; the last two are usage and the end. */
export function streamOf(answer: ScriptedAnswer, model = 'scripted'): readonly string[] {
  const deltas = [
    ...(answer.reasoning ?? []).map((text) => ({ reasoning_content: text })),
    ...answer.chunks.map((content) => ({ content })),
    ...answer.calls.map((call, index) => ({ tool_calls: [{ index, ...toolCallOf(call) }] })),
  ];
  const chunk = (choices: readonly unknown[], more: object = {}) =>
    `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', model, choices, ...more })}\n\n`;
  return [
    ...deltas.map((delta) => chunk([{ index: 0, delta, finish_reason: null }])),
    chunk([{ index: 0, delta: {}, finish_reason: finishOf(answer) }], { usage }),
    'data: [DONE]\n\n',
  ];
}

function toolCallOf({ id, name, arguments: given }: ScriptedCall) {
  const text = typeof given === 'string' ? given : JSON.stringify(given);
  return { id, type: 'function', function: { name, arguments: text } };
}

function finishOf({ calls }: ScriptedAnswer): string {
  return calls.length > 0 ? 'tool_calls' : 'stop';
}
