import { setImmediate as turnOfTheLoop } from 'node:timers/promises';
import type { ModelEvent, ModelInfo, ModelProvider, ModelRequest, ToolCall, Usage } from '@groundcrew/models';
import type { OfflineRequest } from './conversation.js';
import type { Reply } from './pattern.js';

/** What is known of the model without asking it. */
export const offlineInfo: ModelInfo = {
  id: 'offline',
  name: 'Offline model (embedded)',
  vision: false,
  contextWindow: 32_768,
};

/** Where the offline model thinks about what is long: its patterns may take the square of a prompt's length. */
export type ThinkElsewhere = (request: OfflineRequest, signal: AbortSignal) => Promise<unknown>;

/** A model without weights or network that follows simple instructions; the same conversation always gets the same answer. */
export function offlineModel(thinkElsewhere?: ThinkElsewhere): ModelProvider {
  return {
    id: offlineInfo.id,
    models: async () => [offlineInfo],
    async *stream(request, signal) {
      signal.throwIfAborted();
      request.sent?.(offlineInfo.id, request);
      const reply = await replyTo(request, thinkElsewhere, signal);
      const seed = reply.type === 'call' ? await fingerprint(request) : '';
      for (const events of batches(reply, seed, request)) {
        signal.throwIfAborted();
        yield events;
        await turnOfTheLoop();
      }
    },
  };
}

/** What the offline model says or does next: of a request that came from elsewhere. */
export async function offlineReply(request: unknown): Promise<Reply> {
  const { answer } = await import('./answer.js');
  return answer(request as OfflineRequest); // made by `replyTo`, in another process
}

async function replyTo(
  { system, messages, tools: given, toolChoice, output }: ModelRequest,
  thinkElsewhere: ThinkElsewhere | undefined,
  signal: AbortSignal,
): Promise<Reply> {
  // Tools of the runtime have functions, which cannot go to another process.
  const tools = given.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  const request: OfflineRequest = {
    system,
    messages,
    tools,
    ...(toolChoice && { toolChoice }),
    ...(output && { output }),
  };
  if (!thinkElsewhere || !isLong(request)) return offlineReply(request);
  return (await thinkElsewhere(request, signal).catch(async (error: unknown) => {
    signal.throwIfAborted();
    const { selfDescription } = await import('./patterns/small-talk.js');
    const reason = error instanceof Error ? error.message : String(error);
    return { type: 'say', text: `This is too long for me (${reason}). ${selfDescription}` };
  })) as Reply; // `offlineReply` made it
}

/** Patterns may take the square of what they look at: instructions, prompts, and what tools answered. */
function isLong({ messages, system }: OfflineRequest): boolean {
  const characters = textsOf(messages).reduce((sum, text) => sum + text.length, 0);
  return characters > mostCharactersHere || system.length > mostInstructionsHere || /\s{100}/.test(system);
}

const mostCharactersHere = 4000;
/** Our own instructions are shorter. */
const mostInstructionsHere = 12_000;

function textsOf(messages: ModelRequest['messages']): readonly string[] {
  return messages.map((message) => {
    if (message.role === 'tool') return message.text;
    if (message.role === 'assistant')
      return message.text + message.toolCalls.map((call) => call.argumentsText).join('');
    return message.parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  });
}

/** Calls of different conversations, or of different times, have different ids. */
async function fingerprint({ messages }: ModelRequest): Promise<string> {
  const { createHash } = await import('node:crypto');
  return createHash('sha256').update(JSON.stringify(messages)).digest('hex').slice(0, 16);
}

/** Text comes word by word and calls with their deltas when the answer is to stream; otherwise each in one piece. */
function* batches(reply: Reply, seed: string, request: ModelRequest): Generator<readonly ModelEvent[]> {
  const { stream, maxOutputTokens = Number.POSITIVE_INFINITY } = request;
  if (reply.type === 'say') {
    const text = reply.text.slice(0, maxOutputTokens * charactersPerToken);
    for (const delta of stream ? (text.match(/\s*\S+\s*$|\s*\S+|\s+/g) ?? []) : [text])
      yield [{ type: 'text', delta }];
    yield [end(text.length < reply.text.length ? 'length' : 'stop', text, request)];
    return;
  }
  const calls = reply.calls.map(({ name, arguments: values }, index): ToolCall => {
    return { callId: `call_${seed}_${index}`, name, argumentsText: JSON.stringify(values) };
  });
  for (const call of calls) {
    const { callId, name, argumentsText } = call;
    if (stream) yield [{ type: 'tool_call_delta', callId, name, delta: argumentsText }];
    yield [{ type: 'tool_call', call }];
  }
  yield [end('tool_calls', calls.map(({ argumentsText }) => argumentsText).join(''), request)];
}

const charactersPerToken = 4;

function end(reason: 'stop' | 'length' | 'tool_calls', output: string, request: ModelRequest): ModelEvent {
  const input = [request.system, ...textsOf(request.messages), JSON.stringify(request.tools)];
  const usage: Usage = {
    inputTokens: input.reduce((sum, text) => sum + Math.ceil(text.length / charactersPerToken), 0),
    outputTokens: Math.ceil(output.length / charactersPerToken),
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  };
  return { type: 'end', reason, usage, model: offlineInfo.id };
}
