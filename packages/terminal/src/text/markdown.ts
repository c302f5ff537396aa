import type { Token, Tokens } from 'marked';
import { cleanLine, cleanLines } from './clean.js';
import { highlight } from './highlight.js';
import { cut, type Line, line, lineWidth, type Span, type Style, span, wrap } from './span.js';

/** Prose that is wider than this is hard to read. */
const widestProse = 110;

/** One block as lines of at most so many columns; code and words that are wider stay whole. */
export function blockLines(token: Token, columns: number): readonly Line[] {
  const width = Math.min(columns, widestProse);
  switch (token.type) {
    case 'heading': {
      const { depth, tokens = [] } = token as Tokens.Heading;
      const marks = depth > 2 ? [span(`${'#'.repeat(depth)} `, 'heading')] : [];
      return proseLines([...marks, ...inline(tokens, ['heading'])], width);
    }
    case 'paragraph':
    case 'text': {
      const { tokens, text } = token as Tokens.Paragraph;
      return proseLines(tokens ? inline(tokens, []) : [span(text)], width);
    }
    case 'code':
      return codeLines(token as Tokens.Code);
    case 'list':
      return listLines(token as Tokens.List, width);
    case 'blockquote':
      return blocks((token as Tokens.Blockquote).tokens, width - 2).map((each) => [
        span('│ ', 'dim'),
        ...each,
      ]);
    case 'table':
      return tableLines(token as Tokens.Table, columns);
    case 'hr':
      return [line('─'.repeat(Math.max(1, Math.min(width, 40))), 'dim')];
    case 'space':
    case 'def':
      return [];
    default:
      return cleanLines(token.raw.replace(/\n+$/, '')).map((text) => line(text));
  }
}

/** Blocks one below the other, with an empty line where the source has one. */
export function blocks(tokens: readonly Token[], columns: number): readonly Line[] {
  return tokens.flatMap((token, index) => [
    ...blockLines(token, columns),
    ...(index < tokens.length - 1 && endsBlank(token) ? [[]] : []),
  ]);
}

/** Whether an empty line follows a block in the source. */
export function endsBlank({ type, raw }: Token): boolean {
  return type === 'space' || /\n[ \t]*\n[ \t]*$/.test(raw);
}

/** How far code stands from the edge. */
export const codeIndent: Span = span('  ');

function codeLines({ text, lang = '' }: Tokens.Code): readonly Line[] {
  const name = lang.trim().split(/[\s,{]/)[0] ?? '';
  let state = {};
  return cleanLines(text).map((each) => {
    const done = highlight(each, name, state);
    state = done.state;
    return [codeIndent, ...done.line];
  });
}

function listLines(list: Tokens.List, width: number): readonly Line[] {
  const first = typeof list.start === 'number' ? list.start : 1;
  return list.items.flatMap((item, index) => {
    const sign = list.ordered ? `${first + index}. ` : '• ';
    const box = item.checked ? '☑ ' : '☐ ';
    const mark = item.task ? box : sign;
    const indent = span(' '.repeat(mark.length));
    const lines = blocks(
      item.tokens.filter(({ type }) => type !== 'checkbox'),
      width - mark.length,
    );
    const isLast = index === list.items.length - 1;
    return [
      ...(lines.length === 0 ? [[]] : lines).map((each, row) => [
        row === 0 ? span(mark, 'accent') : indent,
        ...each,
      ]),
      ...(!isLast && endsBlank({ ...item, type: 'list_item' }) ? [[]] : []),
    ];
  });
}

/** Columns share what there is; a cell that is too wide is broken into lines. */
function tableLines({ header, rows, align }: Tokens.Table, columns: number): readonly Line[] {
  const cells = [header, ...rows].map((row) => row.map(({ tokens }) => cellSpans(tokens)));
  const count = header.length;
  const natural = Array.from({ length: count }, (_, at) =>
    Math.max(1, ...cells.map((row) => lineWidth(row[at] ?? []))),
  );
  const widths = shared(natural, columns - 3 * (count - 1));
  const lines = cells.flatMap((row, index): readonly Line[] => {
    const wrapped = widths.map((width, at) =>
      wrap(row[at] ?? [], width).map((each) => pad(cut(each, width), width, align[at])),
    );
    const height = Math.max(1, ...wrapped.map((each) => each.length));
    const body = Array.from({ length: height }, (_, at) =>
      wrapped.flatMap((cell, column): Line => {
        const text = cell[at] ?? [span(' '.repeat(widths[column] ?? 0))];
        const looks = index === 0 ? text.map((each) => ({ ...each, styles: ['bold' as const] })) : text;
        return column === 0 ? looks : [span(' │ ', 'dim'), ...looks];
      }),
    );
    const rule = line(widths.map((width) => '─'.repeat(width)).join('─┼─'), 'dim');
    return index === 0 ? [...body, rule] : body;
  });
  return lines;
}

/** What is in a cell has the width that it is shown with. */
function cellSpans(tokens: readonly Token[]): Line {
  return inline(tokens, []).map((each) => ({ ...each, text: cleanLine(each.text) }));
}

/** The widest column gives way first. */
function shared(natural: readonly number[], columns: number): readonly number[] {
  const widths = [...natural];
  const least = 3;
  for (let sum = total(widths); sum > columns; sum = total(widths)) {
    const widest = widths.indexOf(Math.max(...widths));
    if ((widths[widest] ?? 0) <= least) break;
    widths[widest] = Math.max(least, (widths[widest] ?? 0) - (sum - columns > 20 ? 5 : 1));
  }
  return widths;
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, each) => sum + each, 0);
}

function pad(given: Line, width: number, align: Tokens.Table['align'][number] | undefined): Line {
  const missing = Math.max(0, width - lineWidth(given));
  if (align === 'right') return [span(' '.repeat(missing)), ...given];
  const before = align === 'center' ? Math.floor(missing / 2) : 0;
  return [span(' '.repeat(before)), ...given, span(' '.repeat(missing - before))];
}

/** A line end in the source is one on the screen: models write lines as they mean them. */
function proseLines(spans: readonly Span[], width: number): readonly Line[] {
  const lines: Span[][] = [[]];
  for (const { text, styles } of spans)
    cleanLines(text).forEach((part, index) => {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, ...(styles && { styles }) });
    });
  return lines.flatMap((each) => wrap(each, Math.max(1, width)));
}

function inline(tokens: readonly Token[], styles: readonly Style[]): readonly Span[] {
  return tokens.flatMap((token): readonly Span[] => {
    switch (token.type) {
      case 'strong':
        return inline(token.tokens ?? [], [...styles, 'bold']);
      case 'em':
        return inline(token.tokens ?? [], [...styles, 'italic']);
      case 'del':
        return inline(token.tokens ?? [], [...styles, 'strike']);
      case 'codespan':
        return [span((token as Tokens.Codespan).text, ...styles, 'code')];
      case 'br':
        return [span('\n')];
      case 'link':
        return linkSpans(token as Tokens.Link, styles);
      case 'image':
        return [span(`[${(token as Tokens.Image).text}] ${(token as Tokens.Image).href}`, ...styles, 'dim')];
      default: {
        const { tokens: inner, text = token.raw } = token as Tokens.Text;
        return inner ? inline(inner, styles) : [span(text, ...styles)];
      }
    }
  });
}

/** Where a link leads is always shown: its text alone could lie. */
function linkSpans({ tokens, href, text }: Tokens.Link, styles: readonly Style[]): readonly Span[] {
  const shown = inline(tokens, [...styles, 'underline']);
  return text === href || href === `mailto:${text}` ? shown : [...shown, span(` (${href})`, 'dim')];
}
