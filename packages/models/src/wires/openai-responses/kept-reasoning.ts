import { isObject, property, textOrNothing } from '../../json.js';
import type { KeptBlock } from '../../model.js';
import type { Frame } from '../frames.js';
import type { ReasoningItem } from './schema.js';

/** The thought as it may go back. One without its seal or its words was stored nowhere and cannot. */
export function readReasoningItem(item: Frame): ReasoningItem | undefined {
  const id = textOrNothing(item.id);
  if (item.type !== 'reasoning' || id === undefined) return undefined;
  const sealed = textOrNothing(item.encrypted_content);
  const content = readTexts(item.content).map((text) => ({ type: 'reasoning_text' as const, text }));
  if (sealed === undefined && content.length === 0) return undefined;
  return {
    type: 'reasoning',
    id,
    summary: readTexts(item.summary).map((text) => ({ type: 'summary_text' as const, text })),
    ...(content.length > 0 && { content }),
    ...(sealed !== undefined && { encrypted_content: sealed }),
  };
}

/** Newer models mark what they say before their calls, and do worse when the mark is lost. */
export function readPhase({ block }: KeptBlock): 'commentary' | 'final_answer' | undefined {
  const { type, phase } = block;
  return type === 'message' && (phase === 'commentary' || phase === 'final_answer') ? phase : undefined;
}

/** The texts of a list of parts. */
export function readTexts(parts: unknown): string[] {
  if (!Array.isArray(parts)) return [];
  return parts.filter(isObject).flatMap((part) => textOrNothing(property(part, 'text')) ?? []);
}
