import type { TranscriptTool } from './transcript-item.js';

/** What a call is about, in a few words: its most telling argument, or all of them where its tool is not known. */
export function toolSubject({
  display,
  arguments: given,
}: Pick<TranscriptTool, 'display' | 'arguments'>): string {
  if (display !== undefined) return display;
  if (typeof given !== 'object' || given === null) return given === undefined ? '' : String(given);
  const values = given as Readonly<Record<string, unknown>>;
  for (const key of telling) {
    const value = values[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return Object.keys(values).length === 0 ? '' : JSON.stringify(values);
}

const telling = ['command', 'path', 'pattern', 'query', 'url', 'description', 'skill', 'question'];
