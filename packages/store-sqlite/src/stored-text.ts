import { fromColumn, type LogRecord, toColumn } from '@groundcrew/store';

/** Shorter texts are not worth a second look. */
const shortestFolded = 512;
/** Events of results say the text for the model and the text for users; most often these are the same. */
const foldedType = 'tool.execution_complete';
const before = '"content":"';
const between = '","detailedContent":"';
/** No JSON begins with it. */
const foldedMark = '=';

/**
 * The body of a record as the file keeps it. A result whose text stands in it twice is kept once, after three numbers: where the
 * text begins, where the copy belongs, how long it is. Every other body is kept as a plain text.
 */
export function toStored({ type, json }: Pick<LogRecord, 'type' | 'json'>): string | Uint8Array {
  const column = toColumn(json);
  if (typeof column !== 'string') return column;
  if (column.startsWith(foldedMark)) return Buffer.from(column, 'utf16le');
  return type === foldedType ? folded(column) : column;
}

/** The text that `toStored` was given. What is no such body is returned as it is: its checksum is wrong. */
export function fromStored(stored: string | Uint8Array): string {
  const text = fromColumn(stored);
  return typeof stored === 'string' && stored.startsWith(foldedMark) ? unfolded(text) : text;
}

function folded(json: string): string {
  const end = json.indexOf(between);
  const start = json.lastIndexOf(before, end) + before.length;
  const length = end - start;
  if (end < 0 || start < before.length || length < shortestFolded) return json;
  const to = end + between.length;
  if (!json.startsWith(`${json.slice(start, end)}"`, to)) return json;
  return `${foldedMark}${start},${to},${length};${json.slice(0, to)}${json.slice(to + length)}`;
}

function unfolded(text: string): string {
  const [head = '', start, to, length] = /^=(\d{1,10}),(\d{1,10}),(\d{1,10});/.exec(text) ?? [];
  if (head === '') return text;
  const body = text.slice(head.length);
  const copy = body.slice(Number(start), Number(start) + Number(length));
  return body.slice(0, Number(to)) + copy + body.slice(Number(to));
}
