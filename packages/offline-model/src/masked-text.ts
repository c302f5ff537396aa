/** A text in which every quotation and JSON literal stands as one character, so that patterns never look inside it. */
export interface MaskedText {
  readonly text: string;
  /** What the characters stand for, as written and without its quotation marks. */
  readonly quotes: readonly { readonly raw: string; readonly inner: string }[];
}

/** One masked quotation, for use in patterns. */
export const quote = '[\\uE000-\\uF8FF]';

/** Hides what is quoted, what is JSON, and what follows "exactly:" or "repeat:" to the end. */
export function mask(text: string): MaskedText {
  const quotes: MaskedText['quotes'][number][] = [];
  const hide = (raw: string, inner: string): string => {
    if (quotes.length === capacity) return raw;
    quotes.push({ raw, inner });
    return String.fromCharCode(first + quotes.length - 1);
  };
  const own = text.replace(/[\uE000-\uF8FF]/g, '');
  const tail = verbatim.exec(own);
  const head = tail ? own.slice(0, tail.index + tail[0].length) : own;
  const hidden = head.replace(quotation, (raw, ...inners: (string | undefined)[]) => {
    if (/^[{[]/.test(raw)) return parseJson(raw) === undefined ? raw : hide(raw, raw);
    return hide(
      raw,
      (inners.slice(0, 5).find((inner) => inner !== undefined) ?? '').replace(/\\(["\\])/g, '$1'),
    );
  });
  const rest = own.slice(head.length).trim();
  return { text: rest === '' ? hidden : `${hidden} ${hide(rest, rest)}`, quotes };
}

/** A piece of a masked text as it was written; a piece that is one quotation comes without its marks. */
export function unmask(piece: string, { quotes }: Pick<MaskedText, 'quotes'>): string {
  const trimmed = piece.trim();
  const only = trimmed.length === 1 ? quotes[trimmed.charCodeAt(0) - first] : undefined;
  if (only) return only.inner;
  return trimmed.replace(/[\uE000-\uF8FF]/g, (mark) => quotes[mark.charCodeAt(0) - first]?.raw ?? '');
}

/** The value a JSON text stands for; undefined when it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const first = 0xe000;
const capacity = 0xf8ff - first + 1;
const quotation =
  /```\w*\n?([\s\S]*?)\n?```|`([^`\n]+)`|"((?:[^"\\]|\\[\s\S])*)"|“([^”]*)”|(?<!\w)'((?:[^'\n]|(?<=\w)'(?=\w))*)'(?!\w)|\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}|\[[^[\]]*\]/g;
const verbatim =
  /\b(?:exactly|verbatim|repeat|after me|echo|say)\s*:(?!\s*(["'`“])[^\n]*?(?:\1|”)\s*(?:$|[.,;!]|and\b|then\b))/i;
