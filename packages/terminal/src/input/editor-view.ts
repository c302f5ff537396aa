import { type Line, type Span, span } from '../text/span.js';
import { graphemesOf, widthOf } from '../text/width.js';
import { blockLabel, type Draft, isBlock } from './editor.js';

/** A draft on a screen, and where its cursor is. */
export interface DraftView {
  readonly lines: readonly Line[];
  readonly cursor: { readonly row: number; readonly column: number };
}

/** Lays a draft out in columns; of a long one the part around the cursor is shown. */
export function viewDraft(
  draft: Draft,
  { columns, rows }: { readonly columns: number; readonly rows: number },
): DraftView {
  const indent = widthOf(mark.text);
  const layout = layOut(draft, Math.max(4, columns - indent));
  const first = Math.max(0, Math.min(layout.row - Math.floor(rows / 2), layout.lines.length - rows));
  const shown = layout.lines.slice(first, first + rows);
  return {
    lines: shown.map((each, index) => [first + index === 0 ? mark : span(' '.repeat(indent)), ...each]),
    cursor: { row: layout.row - first, column: layout.column + indent },
  };
}

const mark = span('❯ ', 'user');

function layOut(
  draft: Draft,
  columns: number,
): { readonly lines: readonly Line[]; readonly row: number; readonly column: number } {
  const lines: Span[][] = [[]];
  let width = 0;
  let at = 0;
  let place = { row: 0, column: 0 };
  for (const grapheme of graphemesOf(draft.text)) {
    const shown = isBlock(grapheme) ? blockLabel(grapheme, draft) : grapheme;
    const wide = grapheme === '\n' ? 0 : widthOf(shown);
    if (width + wide > columns && width > 0) {
      lines.push([]);
      width = 0;
    }
    // What was joined with the character before it has the cursor inside: it is shown where both begin.
    if (at <= draft.cursor && draft.cursor < at + grapheme.length)
      place = { row: lines.length - 1, column: width };
    at += grapheme.length;
    if (grapheme === '\n') {
      lines.push([]);
      width = 0;
      continue;
    }
    lines.at(-1)?.push(isBlock(grapheme) ? span(shown, 'accent') : span(shown));
    width += wide;
  }
  if (at <= draft.cursor) {
    if (width >= columns) {
      lines.push([]);
      width = 0;
    }
    place = { row: lines.length - 1, column: width };
  }
  return { lines: lines.map(joined), ...place };
}

function joined(spans: readonly Span[]): Line {
  const parts: Span[] = [];
  for (const each of spans) {
    const last = parts.at(-1);
    if (last && !last.styles && !each.styles) parts[parts.length - 1] = { text: last.text + each.text };
    else parts.push(each);
  }
  return parts;
}
