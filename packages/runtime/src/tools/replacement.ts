/** How an exact replacement in some bytes ended. */
export type Replacement =
  | { readonly type: 'replaced'; readonly content: Buffer }
  | { readonly type: 'no_match' }
  /** Lines on which a match begins, counted from 1. */
  | { readonly type: 'ambiguous'; readonly lines: readonly number[] };

/** Replaces the only occurrence of `oldText`. Works on bytes: all others stay the same, in any encoding. */
export function replaceOnce(content: Buffer, oldText: string, newText: string): Replacement {
  const plain = replaceBytes(content, oldText, endLinesLike(content, newText));
  if (plain.type !== 'no_match' || !hasCarriageReturns(content)) return plain;
  return replaceBytes(content, withCarriageReturns(oldText), withCarriageReturns(newText));
}

function replaceBytes(content: Buffer, oldText: string, newText: string): Replacement {
  const wanted = Buffer.from(oldText);
  const found = positionsOf(content, wanted);
  const [at] = found;
  if (at === undefined) return { type: 'no_match' };
  if (found.length > 1) return { type: 'ambiguous', lines: linesAt(content, found) };
  const rest = content.subarray(at + wanted.length);
  return { type: 'replaced', content: Buffer.concat([content.subarray(0, at), Buffer.from(newText), rest]) };
}

/** More than this is not read. */
const mostMatches = 50;

/** Where it stands, overlapping places too: each of them could be meant. */
function positionsOf(content: Buffer, wanted: Buffer): readonly number[] {
  if (wanted.length === 0) return content.length === 0 ? [0] : [];
  const positions: number[] = [];
  let at = content.indexOf(wanted);
  while (at !== -1 && positions.length < mostMatches) {
    positions.push(at);
    at = content.indexOf(wanted, at + 1);
  }
  return positions;
}

/** In one walk: the file may have millions of lines. */
function linesAt(content: Buffer, positions: readonly number[]): readonly number[] {
  let line = 1;
  let at = 0;
  return positions.map((position) => {
    for (; at < position; at += 1) if (content[at] === lineFeed) line += 1;
    return line;
  });
}

const lineFeed = 0x0a;

/** In a file whose lines all end in CRLF, new lines end in CRLF too. */
function endLinesLike(content: Buffer, newText: string): string {
  if (!hasCarriageReturns(content)) return newText;
  return /(^|[^\r])\n/.test(content.toString('latin1')) ? newText : withCarriageReturns(newText);
}

function hasCarriageReturns(content: Buffer): boolean {
  return content.includes('\r\n');
}

function withCarriageReturns(text: string): string {
  return text.replace(/\r?\n/g, '\r\n');
}
