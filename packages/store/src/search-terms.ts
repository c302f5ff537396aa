/**
 * The words that a query looks for, as every store compares them: letters and digits, in small letters and without accents. Of
 * scripts that put no spaces between words, two characters at a time.
 */
export function searchTerms(query: string): readonly string[] {
  const terms = wordsOf(query.slice(0, longestQuery)).flatMap((word) => {
    const characters = unspaced.test(word) ? Array.from(word) : [];
    return characters.length > 2 ? pairsOf(characters) : [word];
  });
  return [...new Set(terms)].slice(0, mostTerms);
}

/** Every term is looked for in every text that is found: of longer queries the beginning counts. */
const longestQuery = 8192;
const mostTerms = 100;

/** The words by which a text is found: those that a query has, and every character of scripts without spaces. */
export function indexTerms(text: string): readonly string[] {
  return wordsOf(text).flatMap((word) => {
    if (!unspaced.test(word)) return [word];
    const characters = Array.from(word);
    return [...characters, ...pairsOf(characters)];
  });
}

/** Whether a text has words of scripts that put no spaces between them. */
export function hasUnspaced(text: string): boolean {
  return anyUnspaced.test(text);
}

const scripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}\\u30fc\\uff70';
const anyUnspaced = new RegExp(`[${scripts}]`, 'u');
const unspaced = new RegExp(`^[${scripts}]`, 'u');
const words = new RegExp(`(?:(?=[\\p{L}\\p{N}])[${scripts}])+|(?:(?![${scripts}])[\\p{L}\\p{N}])+`, 'gu');

/** What is taken apart to lose its accents is put together again: syllables of Hangul are one character each. */
function wordsOf(text: string): readonly string[] {
  const plain = text
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase();
  return plain.match(words) ?? [];
}

function pairsOf(characters: readonly string[]): readonly string[] {
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}
