import type { ChatMessage, ModelRequest, Part, ToolSpec } from '@groundcrew/models';
import type { HistoryEntry } from '../session/shape.js';
import type { Tool } from '../tools/tool.js';
import type { LoopContext, ModelPlan } from './context.js';

/** What the model is told of a call that never got a result. */
export const interruptedText = 'The execution of this tool, or a previous tool was interrupted.';

/** The next call to the model, made from what the log adds up to. */
export function makeRequest(
  context: LoopContext,
  plan: ModelPlan,
  { maxOutputTokens }: { readonly maxOutputTokens?: number } = {},
): ModelRequest {
  const { interaction } = context;
  const { requestHeaders, trace } = interaction.options;
  return {
    model: plan.model,
    system: plan.system,
    messages: toMessages(context.log.state.history, {
      canSeeImages: context.canSeeImages(),
      documents: context.documents(),
      model: plan.model,
    }),
    tools: plan.toolset.tools.map(toSpec),
    stream: plan.streaming,
    ...(plan.reasoningEffort !== undefined && { reasoningEffort: plan.reasoningEffort }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(plan.citations && { citations: true }),
    headers: { ...requestHeaders?.values, ...trace },
    ...(requestHeaders?.strategy === 'override' && { replacesHeaders: true }),
    origin: {
      sessionId: context.sessionId,
      interactionId: interaction.id,
      clientName: context.clientName,
      initiator: interaction.initiator,
      interactionType: `conversation-${interaction.initiator}`,
    },
  };
}

/** The history as a valid conversation: every call has exactly one result, right after the message that made it. */
function toMessages(history: readonly HistoryEntry[], reader: Reader): ChatMessage[] {
  const messages: ChatMessage[] = [];
  for (const [index, entry] of history.entries()) {
    if (entry.role === 'user')
      messages.push({ role: 'user', parts: entry.parts.map((part) => readable(part, reader)) });
    if (entry.role === 'assistant')
      messages.push(...withResults(entry, resultsAfter(history, index), reader));
  }
  return messages;
}

/** What one model cannot see or read stays in the history, for one that can may be chosen later. */
interface Reader {
  readonly canSeeImages: boolean;
  /** Types of documents that it reads as they are. */
  readonly documents: readonly string[];
  readonly model: string;
}

function readable(part: Part, { documents }: Reader): Part {
  if (part.type !== 'document' || documents.includes(part.mimeType)) return part;
  return { type: 'text', text: `[Document ${part.name ?? part.mimeType}: this model cannot read it]` };
}

type Said = Extract<HistoryEntry, { role: 'assistant' }>;
type Result = Extract<HistoryEntry, { role: 'tool' }>;

function withResults(said: Said, results: ReadonlyMap<string, Result>, reader: Reader): ChatMessage[] {
  const { text, toolCalls } = said;
  const kept = said.kept?.model === reader.model ? said.kept.blocks : undefined;
  const messages: ChatMessage[] = [{ role: 'assistant', text, toolCalls, ...(kept && { kept }) }];
  const parts: Part[] = [];
  for (const { callId } of toolCalls) {
    const result = results.get(callId);
    messages.push({ role: 'tool', callId, text: result?.text ?? interruptedText });
    parts.push(...(result?.parts ?? []));
  }
  if (parts.length > 0 && reader.canSeeImages) messages.push({ role: 'user', parts });
  return messages;
}

function resultsAfter(history: readonly HistoryEntry[], index: number): ReadonlyMap<string, Result> {
  const results = new Map<string, Result>();
  for (let i = index + 1; i < history.length; i++) {
    const entry = history[i];
    if (!entry || entry.role === 'assistant') break;
    if (entry.role === 'tool' && !results.has(entry.callId)) results.set(entry.callId, entry);
  }
  return results;
}

function toSpec({ name, description, inputSchema }: Tool): ToolSpec {
  return { name, description, inputSchema };
}
