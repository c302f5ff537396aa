import { graphemesOf, widthOf } from './width.js';

/** What a piece of text means to the eye; a theme gives it its looks. */
export type Style =
  | 'dim'
  | 'bold'
  | 'italic'
  | 'strike'
  | 'underline'
  | 'accent'
  | 'user'
  | 'good'
  | 'bad'
  | 'warning'
  | 'code'
  | 'keyword'
  | 'string'
  | 'comment'
  | 'number'
  | 'added'
  | 'removed'
  | 'heading';

/** A piece of a line. */
export interface Span {
  readonly text: string;
  readonly styles?: readonly Style[];
}

/** One line on a screen, without its end. */
export type Line = readonly Span[];

/** A span of these styles. */
export function span(text: string, ...styles: readonly Style[]): Span {
  return styles.length === 0 ? { text } : { text, styles };
}

/** A line of one style. */
export function line(text: string, ...styles: readonly Style[]): Line {
  return text === '' ? [] : [span(text, ...styles)];
}

/** The columns that a line takes. */
export function lineWidth(given: Line): number {
  return given.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** The line in at most so many columns, with a sign where something is left out. */
export function cut(given: Line, columns: number): Line {
  if (lineWidth(given) <= columns) return given;
  const kept: Span[] = [];
  let left = columns - 1;
  for (const { text, styles } of given) {
    const part = beginning(text, left);
    kept.push({ text: part, ...(styles && { styles }) });
    left -= widthOf(part);
    if (part !== text) break;
  }
  return columns < 1 ? [] : [...kept, { text: '…', styles: ['dim'] }];
}

/** The last characters of a line, so many at most. */
export function ending(given: Line, most: number): Line {
  const kept: Span[] = [];
  let left = most;
  for (const each of given.toReversed()) {
    if (left <= 0) break;
    kept.unshift({ ...each, text: each.text.slice(-left) });
    left -= each.text.length;
  }
  return kept;
}

/** As much of a text as fits into so many columns. */
function beginning(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let width = 0;
  let part = '';
  for (const grapheme of graphemesOf(text)) {
    width += widthOf(grapheme);
    if (width > columns) break;
    part += grapheme;
  }
  return part;
}

/**
 * Breaks a line between words. A word that is wider than all of the columns stays whole: the terminal breaks it, and
 * a copy of it is in one piece.
 */
export function wrap(given: Line, columns: number, rest: Line = []): readonly Line[] {
  if (lineWidth(given) <= columns) return [given];
  const lines: Line[] = [];
  let current: Span[] = [];
  let width = 0;
  const indent = lineWidth(rest);
  for (const word of wordsOf(given)) {
    const isSpace = word[0]?.text.trim() === '';
    const wide = lineWidth(word);
    const isStart = lines.length === 0 ? current.length === 0 : current.length === rest.length;
    if (!isStart && !isSpace && width + wide > columns) {
      lines.push(trimmed(current));
      current = [...rest];
      width = indent;
    } else if (isSpace && isStart && lines.length > 0) continue;
    current.push(...word);
    width += wide;
  }
  return [...lines, trimmed(current)];
}

/** Breaks a line wherever its columns end. */
export function fold(given: Line, columns: number): readonly Line[] {
  const lines: Span[][] = [[]];
  let width = 0;
  for (const { text, styles } of given)
    for (const grapheme of graphemesOf(text)) {
      const wide = widthOf(grapheme);
      if (width + wide > columns) {
        lines.push([]);
        width = 0;
      }
      append(lines.at(-1) ?? [], grapheme, styles);
      width += wide;
    }
  return lines;
}

function append(to: Span[], text: string, styles: readonly Style[] | undefined): void {
  const last = to.at(-1);
  if (last && last.styles === styles) to[to.length - 1] = { ...last, text: last.text + text };
  else to.push({ text, ...(styles && { styles }) });
}

/** Words and the spaces between them. A break is possible between two wide characters too, and not where only the style changes. */
function wordsOf(given: Line): readonly (readonly Span[])[] {
  const words: Span[][] = [];
  for (const { text, styles } of given)
    (text.match(pieces) ?? []).forEach((piece, index) => {
      const before = words.at(-1);
      const goesOn = index === 0 && isLetters(piece) && isLetters(before?.at(-1)?.text ?? ' ');
      const word: Span = { text: piece, ...(styles && { styles }) };
      if (goesOn && before) before.push(word);
      else words.push([word]);
    });
  return words;
}

function isLetters(piece: string): boolean {
  return !/^\s/.test(piece) && !wideStart.test(piece);
}

const wideStart = /^[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFF60]/u;

const pieces =
  /\s+|[\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFF60]\p{M}*|[^\s\u2E80-\u9FFF\uAC00-\uD7AF\uF900-\uFAFF\uFF00-\uFF60]+/gu;

function trimmed(spans: readonly Span[]): Line {
  const last = spans.findLastIndex(({ text }) => text.trim() !== '');
  return spans.slice(0, last + 1);
}
