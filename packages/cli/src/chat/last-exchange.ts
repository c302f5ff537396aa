import type { SessionEvent } from '@groundcrew/sdk';
import { transcriptLine } from '../sessions/transcript.js';
import { shortened } from '../terminal/visible.js';

const mostCharacters = 2_000;

/** The last prompt of a session and what the agent said since, as lines; none for a session without a prompt. */
export function lastExchange(events: readonly SessionEvent[]): readonly string[] {
  const own = events.filter(({ agentId }) => agentId === undefined);
  const asked = own.findLast(({ type }) => type === 'user.message');
  if (!asked) return [];
  const answered = own
    .slice(own.indexOf(asked) + 1)
    .findLast((event) => event.type === 'session.error' || isSpoken(event));
  return [asked, ...(answered ? [answered] : [])].flatMap((event) => {
    const line = transcriptLine(event);
    return line === undefined ? [] : [shortened(line, mostCharacters)];
  });
}

function isSpoken(event: SessionEvent): boolean {
  return event.type === 'assistant.message' && event.data.content !== '';
}
