import type { ChatMessage, ModelInfo, ModelProvider, Part } from '@groundcrew/models';
import type { JsonValue } from '@groundcrew/protocol';
import type { CreateMessageRequestParams, CreateMessageResult } from '@modelcontextprotocol/client';
import type { Draft } from '../log/session-log.js';
import type { ModelCalls } from '../model-call/model-call.js';
import type { PermissionRequest } from '../permissions/question.js';
import type { ClientRequests } from '../questions/client-requests.js';

/** What sampling works with. */
export interface SamplingParts {
  readonly models: ModelCalls;
  /** The session's model as it is now. */
  plan(): { readonly provider: ModelProvider; readonly model: string; readonly info: ModelInfo | undefined };
  /** Asks the user; resolves with why not, or with undefined. */
  permit(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined>;
  append(...drafts: readonly Draft[]): void;
}

/** The name that permission for sampling goes by, beside those of tools. */
export const samplingName = 'sampling/createMessage';

const longestRequest = 1024 * 1024;

/** Has clients answer in the place of the session's model; throws when they refuse. */
export async function sampleByClients(
  asked: Parameters<ClientRequests['sample']>[0],
  requests: ClientRequests,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  const size = JSON.stringify(asked).length;
  if (size > longestRequest) throw new Error(`The request for sampling has ${size} characters`);
  const answer = await requests.sample(asked, signal);
  if (!answer) throw new Error('The user refused the request for sampling');
  return { model: 'unknown', role: 'assistant', ...answer } as CreateMessageResult;
}

/** Lets a server ask the session's model: with the user's permission, inside the session's budget, without any tool. */
export async function sample(
  serverName: string,
  params: CreateMessageRequestParams,
  parts: SamplingParts,
  signal: AbortSignal,
): Promise<CreateMessageResult> {
  const size = JSON.stringify(params).length;
  if (size > longestRequest) throw new Error(`The request for sampling has ${size} characters`);
  const messages = params.messages.map(messageOf);
  if (messages.length === 0) throw new Error('The request for sampling has no message');
  const refusal = await parts.permit(
    {
      kind: 'mcp',
      serverName,
      toolName: samplingName,
      toolTitle: 'Ask the model',
      args: { systemPrompt: params.systemPrompt ?? null, messages: params.messages } as JsonValue,
      readOnly: false,
    },
    signal,
  );
  if (refusal !== undefined) throw new Error(refusal);
  const { provider, model, info } = parts.plan();
  const system = params.systemPrompt ?? '';
  const answer = await parts.models.call(
    {
      provider,
      model,
      info,
      streaming: false,
      initiator: 'agent',
      estimate: () => Math.ceil(size / 4),
      countBytes: (bytes) => bytes,
      modelRequest: ({ maxOutputTokens }) => ({
        model,
        system,
        messages,
        tools: [],
        stream: false,
        maxOutputTokens: Math.min(params.maxTokens, maxOutputTokens ?? params.maxTokens),
      }),
    },
    signal,
  );
  parts.append(answer.usage, { note: 'ask.settled', data: answer.settled });
  return { model, role: 'assistant', content: { type: 'text', text: answer.text }, stopReason: 'endTurn' };
}

/** Reads a request that did not come from a server itself; throws what is wrong with it. */
export function readSampling(request: Readonly<Record<string, unknown>>): CreateMessageRequestParams {
  const { messages, maxTokens = defaultTokens, systemPrompt } = request;
  if (!Array.isArray(messages)) throw new Error('The request for sampling has no messages');
  if (typeof maxTokens !== 'number')
    throw new Error('The maxTokens of the request for sampling is no number');
  for (const each of messages as readonly unknown[]) {
    const { role, content } = (each ?? {}) as Readonly<Record<string, unknown>>;
    const isMessage =
      (role === 'user' || role === 'assistant') && typeof content === 'object' && content !== null;
    if (!isMessage) throw new Error('A message of the request for sampling has no role or no content');
  }
  return {
    messages,
    maxTokens,
    ...(typeof systemPrompt === 'string' && { systemPrompt }),
  } as CreateMessageRequestParams;
}

const defaultTokens = 4096;

function messageOf({ role, content }: CreateMessageRequestParams['messages'][number]): ChatMessage {
  const parts = (Array.isArray(content) ? content : [content]).map(partOf);
  if (role === 'user') return { role, parts };
  const text = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  return { role, text, toolCalls: [] };
}

function partOf(content: { readonly type: string }): Part {
  const { type, text, data, mimeType } = content as Readonly<Record<string, unknown>>;
  if (type === 'text' && typeof text === 'string') return { type, text };
  if (type === 'image' && typeof data === 'string' && typeof mimeType === 'string')
    return { type, mimeType, base64: data };
  throw new Error(`The request for sampling has content of type ${String(type)}, which is not supported`);
}
