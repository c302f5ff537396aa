import type { ChatMessage, ModelRequest, Part, ToolCall } from '@groundcrew/models';

/** What a call sends that the one before it did not: all since the last word of the model. */
export function newMessages({ messages }: ModelRequest): string {
  const last = messages.findLastIndex(({ role }) => role === 'assistant');
  return JSON.stringify(messages.slice(last + 1).map(inputMessage));
}

function inputMessage(message: ChatMessage) {
  if (message.role === 'user') return { role: 'user', parts: message.parts.map(partOf) };
  if (message.role === 'tool') {
    const part = { type: 'tool_call_response', id: message.callId, response: message.text };
    return { role: 'tool', parts: [part] };
  }
  return { role: 'assistant', parts: answerParts(message.text, message.toolCalls) };
}

/** Bytes of images and documents stay here: what they are is said. */
function partOf(part: Part) {
  if (part.type === 'text') return { type: 'text', content: part.text };
  return { type: 'blob', mime_type: part.mimeType, modality: part.type };
}

/** What the model answered. */
export function outputMessages(
  { text, calls }: { readonly text: string; readonly calls: readonly ToolCall[] },
  finishReason: string,
): string {
  return JSON.stringify([
    { role: 'assistant', parts: answerParts(text, calls), finish_reason: finishReason },
  ]);
}

function answerParts(text: string, calls: readonly ToolCall[]) {
  return [
    ...(text === '' ? [] : [{ type: 'text', content: text }]),
    ...calls.map(({ callId: id, name, argumentsText }) => ({
      type: 'tool_call',
      id,
      name,
      arguments: parsed(argumentsText),
    })),
  ];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

export function systemInstructions({ system }: ModelRequest): string {
  return JSON.stringify([{ type: 'text', content: system }]);
}

export function toolDefinitions({ tools }: ModelRequest): string {
  return JSON.stringify(
    tools.map(({ name, description, inputSchema: parameters }) => ({
      type: 'function',
      name,
      description,
      parameters,
    })),
  );
}
