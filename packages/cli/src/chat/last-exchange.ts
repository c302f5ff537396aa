import { type SessionEvent, type TranscriptItem, transcriptOf } from '@groundcrew/sdk';
import { itemLines } from '../sessions/transcript.js';
import { shortened } from '../terminal/visible.js';

const mostCharacters = 2_000;

/** The last prompt of a session and the agent's last answer to it, as lines; none for a session without a prompt. */
export function lastExchange(events: readonly SessionEvent[]): readonly string[] {
  const { items } = transcriptOf(events).main;
  const prompt = items.findLast(({ type }) => type === 'prompt');
  if (!prompt) return [];
  const answer = items.slice(items.indexOf(prompt) + 1).findLast(isAnswer);
  return [prompt, ...(answer ? [answer] : [])]
    .flatMap(itemLines)
    .map((line) => shortened(line, mostCharacters));
}

function isAnswer(item: TranscriptItem): boolean {
  if (item.type === 'notice') return item.level === 'error';
  return item.type === 'message' && item.text !== '';
}
