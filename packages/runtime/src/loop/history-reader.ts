import type { ChatMessage, Part } from '@groundcrew/models';
import type { HistoryEntry } from '../session/shape.js';

/** What the model is told of a call that never got a result. */
export const interruptedText = 'The execution of this tool, or a previous tool was interrupted.';

/** What one model cannot see or read stays in the history, for one that can may be chosen later. */
export interface View {
  readonly model: string;
  readonly canSeeImages: boolean;
  /** Types of documents that it reads as they are. */
  readonly documents: readonly string[];
}

type Said = Extract<HistoryEntry, { role: 'assistant' }>;
type Result = Extract<HistoryEntry, { role: 'tool' }>;

/** Reads a history that grows: a message is made once, and is the same object in every call it is part of. */
export class HistoryReader {
  private made = new WeakMap<HistoryEntry, ChatMessage>();
  private view = '';

  /** The history as a valid conversation: every call has exactly one result, right after the message that made it. */
  read(history: readonly HistoryEntry[], view: View): readonly ChatMessage[] {
    const name = `${view.model} ${view.documents.join(' ')}`;
    if (name !== this.view) this.made = new WeakMap();
    this.view = name;
    const messages: ChatMessage[] = [];
    for (const [index, entry] of history.entries()) {
      if (entry.role === 'user')
        messages.push(
          this.once(entry, () => ({
            role: 'user',
            parts: entry.parts.map((part) => readable(part, view)),
          })),
        );
      if (entry.role === 'assistant') this.addAnswer(entry, resultsAfter(history, index), { messages, view });
    }
    return messages;
  }

  private addAnswer(
    said: Said,
    results: ReadonlyMap<string, Result>,
    { messages, view }: { readonly messages: ChatMessage[]; readonly view: View },
  ): void {
    const { text, toolCalls } = said;
    const kept = said.kept?.model === view.model ? said.kept.blocks : undefined;
    messages.push(this.once(said, () => ({ role: 'assistant', text, toolCalls, ...(kept && { kept }) })));
    const parts: Part[] = [];
    for (const { callId } of toolCalls) {
      const result = results.get(callId);
      messages.push(
        result
          ? this.once(result, () => ({ role: 'tool', callId, text: result.text }))
          : { role: 'tool', callId, text: interruptedText },
      );
      parts.push(...(result?.parts ?? []));
    }
    if (parts.length > 0 && view.canSeeImages) messages.push({ role: 'user', parts });
  }

  private once(entry: HistoryEntry, make: () => ChatMessage): ChatMessage {
    const known = this.made.get(entry);
    if (known) return known;
    const message = make();
    this.made.set(entry, message);
    return message;
  }
}

function readable(part: Part, { documents }: View): Part {
  if (part.type !== 'document' || documents.includes(part.mimeType)) return part;
  return { type: 'text', text: `[Document ${part.name ?? part.mimeType}: this model cannot read it]` };
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
