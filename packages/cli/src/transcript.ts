import type { SessionEvent } from '@groundcrew/sdk';
import { describeEvent } from './describe.js';
import { harmless } from './visible.js';

/** One event as people read a conversation; undefined when it is no part of one. */
export function transcriptLine(event: SessionEvent): string | undefined {
  if (event.type === 'user.message') return `> ${harmless(event.data.content).replaceAll('\n', '\n> ')}`;
  if (event.type === 'assistant.message') return harmless(event.data.content) || undefined;
  if (event.type === 'session.error') return `error: ${harmless(event.data.message)}`;
  return describeEvent(event);
}
