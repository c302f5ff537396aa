import { createHash } from 'node:crypto';
import { isJson, type Json, textOf } from '../json.js';

/** The text of a message's content: as it is, or its parts a paragraph each, with what is no text described. */
export function contentText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part) => (isJson(part) ? partText(part) : textOf(part))).join('\n\n');
}

/** A short sign by which data is known again without being kept. */
export function fingerprint(data: string): string {
  return createHash('sha256').update(data).digest('hex').slice(0, 12);
}

/** Cuts a text into pieces as a model would stream it; no character is cut in two. */
export function inPieces(text: string, size = 24): readonly string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, 'gu')) ?? [];
}

function partText(part: Json): string {
  if (typeof part.text === 'string') return part.text;
  if (typeof part.refusal === 'string') return part.refusal;
  return `[${textOf(part.type) || 'part'} ${fingerprint(JSON.stringify(part))}]`;
}
