import type { SessionEvent } from '@groundcrew/protocol';
import { type LogRecord, searchTerms } from '@groundcrew/store';
import { entryOf } from './entry.js';
import type { NoteDraft } from './notes.js';
import { snippet } from './snippet.js';

/** How many characters of a message, and of a tool's result, can be searched. */
const longestMessage = 32_000;
const longestResult = 2_000;
const passageLength = 300;

/** What a search over all sessions looks at: names, what users and agents said, what was called, and the beginning of results. */
export function searchText(record: LogRecord): string | undefined {
  const entry = kinds.has(record.type) ? entryOf(record) : undefined;
  if (!entry) return undefined;
  const text = 'event' in entry ? textOf(entry.event).trim() : nameIn(entry);
  return text === '' ? undefined : text;
}

/** The part of a text that a search shows: where most of its words stand. */
export function passageWith(text: string, words: string): string {
  return snippet(text, searchTerms(words), passageLength);
}

const kinds: ReadonlySet<string> = new Set([
  'user.message',
  'assistant.message',
  'tool.execution_complete',
  'settings.fixed',
]);

function textOf(event: SessionEvent): string {
  switch (event.type) {
    case 'user.message':
      return event.data.content.slice(0, longestMessage);
    case 'assistant.message': {
      const calls = (event.data.toolRequests ?? []).map(
        ({ name, arguments: given }) => `${name} ${JSON.stringify(given ?? {}).slice(0, longestResult)}`,
      );
      return [event.data.content, ...calls].join('\n').slice(0, longestMessage);
    }
    case 'tool.execution_complete':
      return (event.data.result?.content ?? event.data.error?.message ?? '').slice(0, longestResult);
    default:
      return '';
  }
}

function nameIn(entry: NoteDraft): string {
  return (entry.note === 'settings.fixed' && entry.data.name?.trim()) || '';
}
