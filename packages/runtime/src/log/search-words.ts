/** Longer texts keep their accents: they are not worth the time. */
const longestPlain = 200_000;

/** A text as words are compared with it: in small letters, without accents, every character where it was. */
export function plainText(text: string): string {
  const lower = text.toLowerCase();
  const isSame = lower.length === text.length;
  if (isSame && (text.length > longestPlain || !beyondAscii.test(lower))) return lower;
  if (text.length > longestPlain) return text;
  return Array.from(text, plainCharacter).join('');
}

const beyondAscii = /[\u0080-\uffff]/;
const plainCharacters = new Map<string, string>();

function plainCharacter(character: string): string {
  const known = plainCharacters.get(character);
  if (known !== undefined) return known;
  const bare = character.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();
  const lower = character.toLowerCase();
  const plain = [bare, lower].find(({ length }) => length === character.length) ?? character;
  if (plainCharacters.size < 5_000) plainCharacters.set(character, plain);
  return plain;
}

const mostWords = 80;

/**
 * What a query looks for: its words without their endings, names as they stand and in their parts. Of scripts that put no
 * spaces between words, two characters at a time.
 */
export function queryWords(query: string): readonly string[] {
  const found = plainText(query.normalize('NFC').slice(0, 4_000)).match(tokens) ?? [];
  const all = found.flatMap((token) => (unspaced.test(token) ? pairsOf(token) : formsOf(token)));
  const rare = all.filter((word) => !commonWords.has(word));
  return [...new Set(rare.length > 0 ? rare : all)].slice(0, mostWords);
}

const unspacedScripts =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}ー';
const unspaced = new RegExp(`^[${unspacedScripts}]`, 'u');
const letter = `(?:(?![${unspacedScripts}])[\\p{L}\\p{N}])`;
const tokens = new RegExp(
  `[${unspacedScripts}]+|${letter}(?:(?:${letter}|[\\p{M}_./:@#$%+-])*${letter})?`,
  'gu',
);

function pairsOf(run: string): readonly string[] {
  const characters = Array.from(run);
  if (characters.length < 3) return [run];
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

function formsOf(token: string): readonly string[] {
  const parts = token.split(/[^\p{L}\p{N}\p{M}]+/u).filter(({ length }) => length > 1);
  return parts.length > 1 ? [token, ...parts.map(withoutEnding)] : [withoutEnding(token)];
}

/** So that a question finds `deploy` by `deployed`, and `replica` by `replicas`. */
function withoutEnding(word: string): string {
  if (!/^[a-z]{4,}$/.test(word) || commonWords.has(word)) return word;
  const [, stem] = /^([a-z]{3,})(?:ies|y)$/.exec(word) ?? /^([a-z]{4,})(?:ing|ed|es)$/.exec(word) ?? [];
  if (stem !== undefined) return stem;
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

const commonWords = new Set(
  'a about an and are as at be been by can could did do does for from had has have how i in into is it its me my of on or our she he that the their them there they this to us was we were what when where which who whose why will with would you your please tell'.split(
    ' ',
  ),
);

/** Where a word stands in a text that `plainText` made. Short words stand alone, or at the start of one. */
export function placesOf(word: string, text: string, most: number): readonly number[] {
  const places: number[] = [];
  const isNumber = /^\d+$/.test(word);
  const isShort = isNumber || (word.length < 4 && !unspaced.test(word));
  for (
    let at = text.indexOf(word);
    at >= 0 && places.length < most;
    at = text.indexOf(word, at + word.length)
  ) {
    if (isShort && isLetter(text[at - 1])) continue;
    if (isNumber && isLetter(text[at + word.length])) continue;
    places.push(at);
  }
  return places;
}

function isLetter(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}]/u.test(character) && !unspaced.test(character);
}
