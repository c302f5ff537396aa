import type { ChatMessage, ModelInfo, ModelProvider, ModelRequest } from '@groundcrew/models';
import { sizeOfAll } from '../log/history-view.js';
import type { AgentState, HistoryEntry } from '../log/state.js';
import type { ModelCallRequest } from '../model-call/call-request.js';

/** How many characters one token is estimated to have. */
export const charactersPerToken = 4;

/** How full a window is; sizes are estimated at four characters a token. */
export interface WindowUse {
  readonly tokenLimit: number;
  readonly currentTokens: number;
  readonly systemTokens: number;
  readonly conversationTokens: number;
  readonly toolDefinitionsTokens: number;
  readonly messagesLength: number;
}

/** The model that summarises, and what it is asked with. */
export interface SummaryCall {
  readonly provider: ModelProvider;
  readonly model: string;
  readonly info: ModelInfo | undefined;
  readonly request: Omit<ModelRequest, 'messages' | 'stream'>;
  /** Per-prompt headers; only a compaction that the prompt waits for takes them. */
  readonly headers: Pick<ModelRequest, 'headers' | 'replacesHeaders'>;
  /** The history as this model reads it. */
  read(history: readonly HistoryEntry[]): readonly ChatMessage[];
  /** How full the window is, by what the log adds up to. */
  measure(agent: AgentState): WindowUse;
  /** Tokens of the next request, as the service would count them. */
  estimate(): number;
}

/** The call for a summary: the conversation, and what is wanted of the model. */
export function summaryRequest(
  call: SummaryCall,
  entries: readonly HistoryEntry[],
  { isWaitedFor, prompt }: { readonly isWaitedFor: boolean; readonly prompt: string },
): ModelCallRequest {
  const { provider, model, info, request, headers } = call;
  const messages = conversationOf(call.read(entries), prompt);
  const size = sizeOfAll(entries) + request.system.length;
  return {
    provider,
    model,
    info,
    streaming: false,
    initiator: 'agent' as const,
    estimate: () => Math.ceil(size / charactersPerToken) + toolTokens(request.tools),
    modelRequest: ({
      maxOutputTokens,
      remark,
    }: {
      readonly maxOutputTokens?: number;
      readonly remark?: string;
    }) => ({
      ...request,
      messages,
      stream: false,
      toolChoice: 'none' as const,
      ...(isWaitedFor && headers),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
      ...(remark !== undefined && { remark }),
    }),
    countBytes: () => 0,
  };
}

function toolTokens(tools: ModelRequest['tools']): number {
  return Math.ceil(tools.reduce((sum, tool) => sum + tool.description.length + 200, 0) / charactersPerToken);
}

/** Every wire begins with the user. */
function conversationOf(messages: readonly ChatMessage[], prompt: string): readonly ChatMessage[] {
  const [first] = messages;
  const ask: ChatMessage = { role: 'user', parts: [{ type: 'text', text: prompt }] };
  if (!first || first.role === 'user') return [...messages, ask];
  const cut = 'The beginning of the conversation is left out here.';
  return [{ role: 'user', parts: [{ type: 'text', text: cut }] }, ...messages, ask];
}

/** The newer half of the entries, from a place where no result is without its call. */
export function newerHalf(entries: readonly HistoryEntry[]): readonly HistoryEntry[] {
  const half = Math.floor(entries.length / 2);
  const start = entries.findIndex((entry, index) => index >= half && entry.role !== 'tool');
  return start < 1 ? entries.slice(-1).filter(({ role }) => role !== 'tool') : entries.slice(start);
}
