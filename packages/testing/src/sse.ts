import { isJson, type Json, parseJson } from './json.js';

/** What some APIs send last. */
export const doneMark = '[DONE]';

/** The JSON objects of a stream of server-sent events; the mark of its end is one too. */
export function framesIn(stream: string): readonly Json[] {
  return stream
    .replace(/^\uFEFF/, '')
    .split(/\r\n\r\n|\n\n|\r\r/)
    .map(dataOf)
    .map((data) => (data === doneMark ? { [doneMark]: true } : parseJson(data)))
    .filter(isJson);
}

/** One server-sent event. */
export function frame(data: Json | string, event?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`;
}

function dataOf(event: string): string {
  return event
    .split(/\r\n|\n|\r/)
    .filter((line) => line.startsWith('data:'))
    .map((line) => line.slice('data:'.length).trimStart())
    .join('\n');
}
