import { cleanLines, visibleLines } from './clean.js';
import { diffSpan } from './highlight.js';
import { type Line, span } from './span.js';

/** Whether a text is a diff of files. */
export function isDiff(text: string): boolean {
  return /^\n?diff --git /.test(text);
}

/** A diff without the lines that name the file: the line above names it. */
export function diffLines(diff: string): readonly Line[] {
  const lines = cleanLines(diff.replace(/^\n/, '').replace(/\n$/, ''));
  const first = lines.findIndex((text) => text.startsWith('@@'));
  return lines.slice(Math.max(0, first)).map((text) => [diffSpan(text)]);
}

/** How many lines a diff adds and removes; empty for one that changes nothing, as a file that is only shown. */
export function diffCounts(diff: string): string {
  const lines = diff.split('\n').filter((text) => !/^(?:\+\+\+|---)/.test(text));
  const count = (sign: string) => lines.filter((text) => text.startsWith(sign)).length;
  const [added, removed] = [count('+'), count('-')];
  return added + removed === 0 ? '' : ` +${added} −${removed}`;
}

/** A diff that is decided about: nothing in it hides. */
export function askedDiff(diff: string): readonly Line[] {
  const lines = visibleLines(diff.replace(/^\n/, '').replace(/\n$/, ''));
  const first = lines.findIndex((text) => text.startsWith('@@'));
  return lines.slice(Math.max(0, first)).map((text) => [diffSpan(text)]);
}

/** Lines that stand further in. */
export function indented(lines: readonly Line[]): readonly Line[] {
  return lines.map((each) => (each.length === 0 ? each : [span('  '), ...each]));
}
