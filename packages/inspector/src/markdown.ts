/** A piece of a paragraph. */
export interface Piece {
  readonly style: 'plain' | 'code' | 'bold' | 'italic' | 'strike' | 'link';
  readonly text: string;
  /** Where a link leads; shown, and never followed. */
  readonly to?: string;
}

/** A block of a Markdown text. */
export type Block =
  | { readonly type: 'paragraph'; readonly text: string }
  | { readonly type: 'heading'; readonly level: number; readonly text: string }
  | { readonly type: 'code'; readonly text: string }
  | { readonly type: 'quote'; readonly blocks: readonly Block[] }
  | {
      readonly type: 'list';
      readonly first: number | undefined;
      readonly items: readonly (readonly Block[])[];
    }
  | {
      readonly type: 'table';
      readonly aligns: readonly ('left' | 'right' | 'center')[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly type: 'rule' };

/** So long a text is shown as it was written. */
const longest = 200_000;
const deepest = 8;

/** Splits a model's text into blocks. Unknown syntax becomes a paragraph, and HTML stays plain text. */
export function blocksOf(text: string, depth = 0): readonly Block[] {
  if (text.length > longest || depth > deepest) return [{ type: 'paragraph', text }];
  const lines = text.replaceAll('\r\n', '\n').split('\n');
  const blocks: Block[] = [];
  let at = 0;
  while (at < lines.length) {
    const taken = firstOf(lines, at, depth);
    if (taken?.block) blocks.push(taken.block);
    at = Math.max(at + 1, taken?.next ?? 0);
  }
  return blocks;
}

function firstOf(lines: readonly string[], at: number, depth: number): ReturnType<Reader> {
  for (const read of readers) {
    const taken = read(lines, at, depth);
    if (taken) return taken;
  }
  return undefined;
}

/** What one reader makes of the lines from one on: a block, and where the next begins. */
type Reader = (
  lines: readonly string[],
  at: number,
  depth: number,
) => { readonly block?: Block; readonly next: number } | undefined;

const fence = /^ {0,3}(`{3,}|~{3,})/;
const heading = /^ {0,3}(#{1,6}) +(.*)$/;
const rule = /^ {0,3}(?:(?:- *){3,}|(?:\* *){3,}|(?:_ *){3,})$/;
const quote = /^ {0,3}> ?/;
const item = /^( {0,3})([-*+]|\d{1,9}[.)])( {1,4})(?=\S)/;
const dashes = /^\|?(?: *:?-+:? *\|)+ *(?::?-+:?)?$/;

const blank: Reader = (lines, at) => (lines[at]?.trim() === '' ? { next: at + 1 } : undefined);

const code: Reader = (lines, at) => {
  const [, mark] = fence.exec(lines[at] ?? '') ?? [];
  if (mark === undefined) return undefined;
  const closes = (line: string) =>
    line.trim().startsWith(mark) && line.trim() === mark[0]?.repeat(line.trim().length);
  const until = endOf(lines, at + 1, (each) => !closes(each));
  return { block: { type: 'code', text: lines.slice(at + 1, until).join('\n') }, next: until + 1 };
};

const title: Reader = (lines, at) => {
  const [, marks, text] = heading.exec(lines[at] ?? '') ?? [];
  if (marks === undefined || text === undefined) return undefined;
  return { block: { type: 'heading', level: marks.length, text: text.trim() }, next: at + 1 };
};

const line: Reader = (lines, at) =>
  rule.test(lines[at] ?? '') ? { block: { type: 'rule' }, next: at + 1 } : undefined;

const quoted: Reader = (lines, at, depth) => {
  const next = endOf(lines, at, (each) => quote.test(each));
  if (next === at) return undefined;
  const inner = lines.slice(at, next).map((each) => each.replace(quote, ''));
  return { block: { type: 'quote', blocks: blocksOf(inner.join('\n'), depth + 1) }, next };
};

const list: Reader = (lines, at, depth) => {
  const [, , mark = ''] = item.exec(lines[at] ?? '') ?? [];
  if (mark === '') return undefined;
  const isNumbered = /\d/.test(mark);
  const items: (readonly Block[])[] = [];
  let next = at;
  for (;;) {
    const begun = item.exec(lines[next] ?? '');
    if (!begun || /\d/.test(begun[2] ?? '') !== isNumbered) break;
    const [whole] = begun;
    const end = endOf(lines, next + 1, (_, index) => belongs(lines, index, whole.length));
    const inner = lines
      .slice(next, end)
      .map((each, index) => (index === 0 ? each.slice(whole.length) : outdented(each, whole.length)));
    items.push(blocksOf(inner.join('\n').trimEnd(), depth + 1));
    next = end;
  }
  return { block: { type: 'list', first: isNumbered ? Number.parseInt(mark, 10) : undefined, items }, next };
};

/** Whether a line is part of the entry before it: it is indented, or empty before one that is. */
function belongs(lines: readonly string[], at: number, indent: number): boolean {
  const each = lines[at] ?? '';
  if (each.trim() === '') return (lines[at + 1] ?? '').startsWith('  ');
  return each.startsWith(' '.repeat(Math.min(indent, 2)));
}

function outdented(text: string, by: number): string {
  const spaces = /^ */.exec(text)?.[0].length ?? 0;
  return text.slice(Math.min(spaces, by));
}

const table: Reader = (lines, at) => {
  if (!lines[at]?.includes('|') || !dashes.test((lines[at + 1] ?? '').trim())) return undefined;
  const next = endOf(lines, at + 2, (each) => each.includes('|'));
  const rows = [lines[at] ?? '', ...lines.slice(at + 2, next)].map(cellsOf);
  const aligns = cellsOf(lines[at + 1] ?? '').map(alignOf);
  return { block: { type: 'table', aligns, rows }, next };
};

function alignOf(marks: string): 'left' | 'right' | 'center' {
  if (!marks.endsWith(':')) return 'left';
  return marks.startsWith(':') ? 'center' : 'right';
}

function cellsOf(text: string): readonly string[] {
  const inner = text.trim().replace(/^\||\|$/g, '');
  return inner.split('|').map((each) => each.trim());
}

const paragraph: Reader = (lines, at) => {
  const isOther = (each: string, index: number) =>
    each.trim() === '' ||
    [fence, heading, rule, quote, item].some((start) => start.test(each)) ||
    (each.includes('|') && dashes.test((lines[index + 1] ?? '').trim()));
  const next = endOf(lines, at + 1, (each, index) => !isOther(each, index));
  return { block: { type: 'paragraph', text: lines.slice(at, next).join('\n') }, next };
};

const readers: readonly Reader[] = [blank, code, title, line, quoted, list, table, paragraph];

/** The first line from one on of which it is not so. */
function endOf(
  lines: readonly string[],
  from: number,
  isSo: (line: string, index: number) => boolean,
): number {
  let at = from;
  while (at < lines.length && isSo(lines[at] ?? '', at)) at++;
  return at;
}

/** No part of it can match at many lengths: a text takes time in proportion to its length. */
const marked =
  /(`{1,8})([^`]+)\1|\*\*([^*\n]+)\*\*|\*([^*\s][^*\n]*)\*|~~([^~\n]+)~~|\[([^[\]\n]+)\]\(([^()\s]*)\)/g;

/** The pieces of a paragraph. */
export function piecesOf(text: string): readonly Piece[] {
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of text.matchAll(marked)) {
    if (match.index > at) pieces.push({ style: 'plain', text: text.slice(at, match.index) });
    pieces.push(pieceOf(match));
    at = match.index + match[0].length;
  }
  return at < text.length ? [...pieces, { style: 'plain', text: text.slice(at) }] : pieces;
}

function pieceOf([whole, , code, bold, italic, strike, link, to]: RegExpMatchArray): Piece {
  if (code !== undefined) return { style: 'code', text: code };
  if (bold !== undefined) return { style: 'bold', text: bold };
  if (italic !== undefined) return { style: 'italic', text: italic };
  if (strike !== undefined) return { style: 'strike', text: strike };
  return link === undefined || to === undefined
    ? { style: 'plain', text: whole }
    : { style: 'link', text: link, to };
}
