import stringWidth from 'string-width';

/** The columns that a text takes in a terminal. */
export function widthOf(text: string): number {
  return isPlain(text) ? text.length : stringWidth(text);
}

/** The columns that a text takes at most: terminals differ in emoji that are joined, and in what East Asian ones take for wide. */
export function widestOf(text: string): number {
  if (isPlain(text)) return text.length;
  let width = 0;
  for (const character of text) width += widestCharacter(character);
  return width;
}

function widestCharacter(character: string): number {
  if (character < '\u007f') return 1;
  return /\p{Emoji}/u.test(character) ? 2 : stringWidth(character, { ambiguousIsNarrow: false });
}

/** The columns that a text takes at least: older terminals give one to emoji that newer ones give two. */
export function leastOf(text: string): number {
  if (isPlain(text)) return text.length;
  return graphemesOf(text).reduce((sum, each) => {
    const width = widthOf(each);
    return sum + (/\p{Emoji}/u.test(each) ? Math.min(1, width) : width);
  }, 0);
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
