import { Lexer, type Token } from 'marked';

/** A part of this many characters without an empty line takes a parser too long. */
const longestPart = 60_000;
const longestLine = 10_000;
/** Quotes and lists in one another, deeper than anyone writes them: a parser goes as deep, and ends there. */
const nested = /^(?:[ \t]*(?:>|(?:[-+*]|\d{1,9}[.)])[ \t])){40}|^[ \t]{80,}(?:[-+*]|\d{1,9}[.)])[ \t]/;
/** A row of marks that might begin something: parsers try each with each. */
const manyMarks = /[*_~`]{1000}/;
const fence = /^ {0,3}(`{3,99}(?!`)|~{3,99}(?!~))/;

/**
 * The blocks of a Markdown text. What a parser would need very long for, or more depth than there is, is a block of lines
 * as they are.
 */
export function blocksOf(source: string): readonly Token[] {
  return partsOf(source).flatMap((part) => (part.isPlain ? [plainBlock(part.text)] : parsed(part.text)));
}

interface Part {
  readonly text: string;
  readonly isPlain: boolean;
}

/** The text in one part, unless something in it has to stand alone. */
function partsOf(source: string): readonly Part[] {
  const parts: Part[] = [];
  let done = 0;
  let start = 0;
  let at = 0;
  let isHard = false;
  let open = '';
  const endParagraph = (end: number) => {
    if (isHard || end - start > longestPart) {
      if (start > done) parts.push({ text: source.slice(done, start), isPlain: false });
      parts.push({ text: source.slice(start, end), isPlain: true });
      done = end;
    }
    isHard = false;
  };
  while (at < source.length) {
    const end = source.indexOf('\n', at);
    const next = end < 0 ? source.length : end + 1;
    const line = source.slice(at, next);
    const [, mark = ''] = fence.exec(line) ?? [];
    const isFence = mark !== '' && (open === '' || (mark.startsWith(open) && line.trim() === mark));
    if (open === '' && (isFence || line.trim() === '')) {
      endParagraph(at);
      start = next;
    } else if (open === '') isHard ||= isHardLine(line);
    if (isFence) open = open === '' ? mark : '';
    if (isFence && open === '') start = next;
    at = next;
  }
  if (open === '') endParagraph(source.length);
  if (done < source.length) parts.push({ text: source.slice(done), isPlain: false });
  return parts;
}

function isHardLine(line: string): boolean {
  return line.length > longestLine || nested.test(line) || manyMarks.test(line);
}

function parsed(source: string): readonly Token[] {
  try {
    return new Lexer({ gfm: true }).lex(source);
  } catch (error) {
    // It went deeper than there is room for.
    if (error instanceof RangeError) return [plainBlock(source)];
    throw error;
  }
}

function plainBlock(text: string): Token {
  return { type: 'plain', raw: text, text };
}
