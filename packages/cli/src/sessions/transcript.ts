import type { SessionEvent } from '@groundcrew/sdk';
import { describeEvent } from '../terminal/describe.js';
import { harmless } from '../terminal/visible.js';

/** A conversation as lines. A call that was begun again after a resume is the same call. */
export function transcriptOf(events: readonly SessionEvent[]): readonly string[] {
  const begun = new Set<string>();
  return events.flatMap((event) => {
    if (event.type === 'tool.execution_start') {
      if (begun.has(event.data.toolCallId)) return [];
      begun.add(event.data.toolCallId);
    }
    const line = transcriptLine(event);
    return line === undefined ? [] : [line];
  });
}

/** One event as people read a conversation; undefined when it is no part of one. */
export function transcriptLine(event: SessionEvent): string | undefined {
  if (event.type === 'user.message') return `> ${harmless(event.data.content).replaceAll('\n', '\n> ')}`;
  if (event.type === 'assistant.message') return harmless(event.data.content) || undefined;
  if (event.type === 'session.error') return `error: ${harmless(event.data.message)}`;
  return describeEvent(event);
}
