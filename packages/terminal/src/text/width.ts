import stringWidth from 'string-width';

/** The columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** What users take for single characters. */
export function graphemesOf(text: string): readonly string[] {
  return isPlain(text) ? [...text] : [...segmenter.segment(text)].map(({ segment }) => segment);
}

/** Printable ASCII needs no table. */
function isPlain(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
