import type { ChatMessage, Part } from '@groundcrew/models';
import { interruptedText } from '../gate/failed-result.js';
import type { HistoryEntry, ModelView } from '../log/state.js';
import { withinImageLimits } from '../prompt/image-limits.js';

type AssistantEntry = Extract<HistoryEntry, { role: 'assistant' }>;
type Result = Extract<HistoryEntry, { role: 'tool' }>;

/** Reads a history that grows: a message is made once, and is the same object in every call it is part of. */
export class HistoryReader {
  private view: ModelView | undefined;
  private history: readonly HistoryEntry[] = [];
  /** Made of the history up to its last answer, whose results may still come. */
  private settled: readonly ChatMessage[] = [];
  private settledEntries = 0;
  private made = new WeakMap<HistoryEntry, ChatMessage>();

  /** The history as a valid conversation: every call has exactly one result, right after the message that made it. */
  read(history: readonly HistoryEntry[], view: ModelView): readonly ChatMessage[] {
    if (!this.isOf(history, view)) this.reset();
    const messages = [...this.settled];
    const lastAnswer = history.findLastIndex(({ role }) => role === 'assistant');
    for (let index = this.settledEntries; index < history.length; index++) {
      const entry = history[index];
      if (index === lastAnswer) {
        this.settled = [...messages];
        this.settledEntries = index;
      }
      if (entry?.role === 'user')
        messages.push(
          this.once(entry, () => ({
            role: 'user',
            parts: entry.parts.map((part) => readable(part, view)),
          })),
        );
      if (entry?.role === 'assistant')
        this.addAnswer(entry, resultsAfter(history, index), { messages, view });
    }
    this.view = view;
    this.history = history;
    return view.images ? withinImageLimits(messages, view.images) : messages;
  }

  /** The history goes on from the one that was read last, and is read as that was. */
  private isOf(history: readonly HistoryEntry[], { model, canSeeImages, documents }: ModelView): boolean {
    const { view, settledEntries } = this;
    return (
      view?.model === model &&
      view.canSeeImages === canSeeImages &&
      view.documents.join() === documents.join() &&
      // What is taken out is the beginning or the end: between two entries that are the same nothing has changed.
      history[0] === this.history[0] &&
      history[settledEntries] === this.history[settledEntries]
    );
  }

  private reset(): void {
    this.settled = [];
    this.settledEntries = 0;
    this.made = new WeakMap();
  }

  private addAnswer(
    assistantEntry: AssistantEntry,
    results: ReadonlyMap<string, Result>,
    { messages, view }: { readonly messages: ChatMessage[]; readonly view: ModelView },
  ): void {
    const { text, toolCalls } = assistantEntry;
    const kept = assistantEntry.kept?.model === view.model ? assistantEntry.kept.blocks : undefined;
    messages.push(
      this.once(assistantEntry, () => ({ role: 'assistant', text, toolCalls, ...(kept && { kept }) })),
    );
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

function readable(part: Part, { documents }: ModelView): Part {
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
