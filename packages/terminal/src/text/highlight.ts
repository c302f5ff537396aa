import { type Line, type Span, span } from './span.js';

/** What the lines before have left open: a comment or a text of several lines, by what ends it. */
export interface CodeState {
  readonly until?: string;
  readonly style?: 'comment' | 'string';
}

interface Language {
  readonly keywords: ReadonlySet<string>;
  /** What begins a comment up to the end of the line. */
  readonly comments: readonly string[];
  /** Begin and end of what may take several lines. */
  readonly blocks: readonly (readonly [begin: string, end: string, style: 'comment' | 'string'])[];
  readonly quotes: string;
  readonly isCaseless?: boolean;
}

/** Colours one line of code; languages that are not known stay as they are. */
export function highlight(
  text: string,
  name: string,
  state: CodeState = {},
): { readonly line: Line; readonly state: CodeState } {
  if (name === 'diff' || name === 'patch') return { line: [diffSpan(text)], state };
  const language = languages[name.toLowerCase()];
  if (!language) return { line: [span(text, 'code')], state };
  const spans: Span[] = [];
  let at = 0;
  let open = state;
  while (at < text.length) {
    const piece = open.until === undefined ? next(text, at, language) : rest(text, at, open);
    spans.push(span(piece.text, ...(piece.style ? [piece.style] : [])));
    open = piece.open ?? {};
    at += piece.text.length;
  }
  return { line: spans, state: open };
}

/** A line of a diff. */
export function diffSpan(text: string): Span {
  if (/^(?:\+\+\+|---|diff |index )/.test(text)) return span(text, 'bold');
  if (text.startsWith('+')) return span(text, 'added');
  if (text.startsWith('-')) return span(text, 'removed');
  return text.startsWith('@@') ? span(text, 'accent') : span(text);
}

interface Piece {
  readonly text: string;
  readonly style?: 'comment' | 'string' | 'number' | 'keyword';
  readonly open?: CodeState;
}

/** Up to the end of what earlier lines have begun. */
function rest(text: string, at: number, open: CodeState): Piece {
  const style = open.style ?? 'comment';
  const end = text.indexOf(open.until ?? '', at);
  if (end < 0) return { text: text.slice(at), style, open };
  return { text: text.slice(at, end + (open.until?.length ?? 0)), style };
}

function next(text: string, at: number, language: Language): Piece {
  for (const [begin, end, style] of language.blocks)
    if (text.startsWith(begin, at)) {
      const close = text.indexOf(end, at + begin.length);
      if (close < 0) return { text: text.slice(at), style, open: { until: end, style } };
      return { text: text.slice(at, close + end.length), style };
    }
  if (language.comments.some((mark) => text.startsWith(mark, at)))
    return { text: text.slice(at), style: 'comment' };
  const character = text[at] ?? '';
  if (language.quotes.includes(character)) return { text: quoted(text, at, character), style: 'string' };
  number.lastIndex = at;
  const digits = number.exec(text)?.[0];
  if (digits) return { text: digits, style: 'number' };
  word.lastIndex = at;
  const name = word.exec(text)?.[0];
  if (!name) return { text: character };
  const isKeyword = language.keywords.has(language.isCaseless ? name.toLowerCase() : name);
  return isKeyword ? { text: name, style: 'keyword' } : { text: name };
}

function quoted(text: string, at: number, quote: string): string {
  for (let i = at + 1; i < text.length; i++) {
    if (text[i] === '\\') i += 1;
    else if (text[i] === quote) return text.slice(at, i + 1);
  }
  return text.slice(at);
}

const number = /\b\d[\w.]*/y;
const word = /[\p{L}_$][\p{L}\p{N}_$-]*|\s+|[^\p{L}\p{N}_$\s"'`#/-]+/uy;

const words = (text: string) => new Set(text.split(' '));
const slashes = { comments: ['//'], blocks: [['/*', '*/', 'comment']] } as const;
const hash = { comments: ['#'], blocks: [] } as const;

const script: Language = {
  ...slashes,
  blocks: [...slashes.blocks, ['`', '`', 'string']],
  quotes: '"\'',
  keywords: words(
    'abstract as async await break case catch class const continue debugger declare default delete do else enum export extends false finally for from function get if implements import in instanceof interface is keyof let namespace new null of override private protected public readonly return satisfies set static super switch this throw true try type typeof undefined var void while with yield',
  ),
};
const c: Language = {
  ...slashes,
  quotes: '"\'',
  keywords: words(
    'alignas auto bool break case catch char class const constexpr continue default delete do double else enum explicit extern false final float for friend goto if inline int long namespace new noexcept nullptr operator override private protected public register return short signed sizeof static struct switch template this throw true try typedef typename union unsigned using virtual void volatile while',
  ),
};
const java: Language = {
  ...slashes,
  quotes: '"\'',
  keywords: words(
    'abstract as async await bool boolean break byte case catch char class const continue data decimal default do double else enum extends final finally float for foreach fun if implements import in instanceof int interface internal is let long namespace new null object out override package private protected public readonly record ref return sealed short static string super switch synchronized this throw throws true try typeof using val var void volatile when where while yield false',
  ),
};
const go: Language = {
  ...slashes,
  blocks: [...slashes.blocks, ['`', '`', 'string']],
  quotes: '"\'',
  keywords: words(
    'break case chan const continue default defer else fallthrough false for func go goto if import interface map nil package range return select struct switch true type var',
  ),
};
const rust: Language = {
  ...slashes,
  quotes: '"',
  keywords: words(
    'as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self Self static struct super trait true type unsafe use where while',
  ),
};
const python: Language = {
  comments: ['#'],
  blocks: [
    ['"""', '"""', 'string'],
    ["'''", "'''", 'string'],
  ],
  quotes: '"\'',
  keywords: words(
    'and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield',
  ),
};
const ruby: Language = {
  ...hash,
  quotes: '"\'',
  keywords: words(
    'alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or redo rescue retry return self super then true undef unless until when while yield',
  ),
};
const shell: Language = {
  ...hash,
  quotes: '"\'',
  keywords: words(
    'case cd do done echo elif else esac exit export fi for function if in local return set then trap unset until while',
  ),
};
const sql: Language = {
  comments: ['--'],
  blocks: [['/*', '*/', 'comment']],
  quotes: '\'"',
  isCaseless: true,
  keywords: words(
    'add all alter and as asc between by case check column constraint create cross default delete desc distinct drop else end exists foreign from full group having if in index inner insert into is join key left like limit not null offset on or order outer primary references returning right select set table then union unique update using values view when where with',
  ),
};
const data: Language = { ...hash, quotes: '"\'', keywords: words('true false null yes no on off') };
const json: Language = { ...slashes, quotes: '"', keywords: words('true false null') };
const css: Language = {
  comments: [],
  blocks: [['/*', '*/', 'comment']],
  quotes: '"\'',
  keywords: words('important inherit initial none auto unset var calc'),
};
const markup: Language = {
  comments: [],
  blocks: [['<!--', '-->', 'comment']],
  quotes: '"\'',
  keywords: words('html head body div span script style link meta template svg'),
};

const languages: Readonly<Record<string, Language>> = {
  ...named(script, 'js jsx javascript mjs cjs ts tsx typescript mts cts'),
  ...named(c, 'c h cpp c++ cc hpp cxx objc'),
  ...named(java, 'java kotlin kt scala cs csharp c# swift dart php'),
  ...named(go, 'go golang'),
  ...named(rust, 'rust rs'),
  ...named(python, 'py python python3'),
  ...named(ruby, 'rb ruby elixir ex'),
  ...named(shell, 'sh bash zsh shell console fish dockerfile makefile make'),
  ...named(sql, 'sql sqlite postgres mysql'),
  ...named(data, 'yaml yml toml ini conf properties'),
  ...named(json, 'json jsonc json5'),
  ...named(css, 'css scss less'),
  ...named(markup, 'html xml svg vue'),
};

function named(language: Language, names: string): Readonly<Record<string, Language>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, language]));
}
