/** More than this is not read: what it would do is asked about as a whole. */
const longestText = 8 * 1024;
/** Quotes, brackets and substitutions, each of which may hold others. */
const mostOpenings = 200;
/** Braces multiply words. */
const mostBraces = 100;
/** Blanks and operators, between which words stand. */
const mostSeparators = 1000;
/** Bounds all that is read in one command, with the texts it hands to other shells. */
const mostCharacters = 32 * 1024;
const mostWords = 1200;

/** Whether the parser, whose work grows faster than some texts do, may be given this one. */
function isReadable(text: string): boolean {
  if (text.length > longestText) return false;
  let openings = 0;
  let braces = 0;
  let separators = 0;
  for (const character of text) {
    if ('(`[$'.includes(character)) openings += 1;
    if (character === '{') braces += 1;
    if (' \t\n;|&<>\\'.includes(character)) separators += 1;
  }
  return openings <= mostOpenings && braces <= mostBraces && separators <= mostSeparators;
}

/** What may still be read of one command. */
export class ReadingBudget {
  private characters = mostCharacters;
  private words = mostWords;

  /** False when the texts of the command are too much together. */
  takesText(text: string): boolean {
    this.characters -= text.length;
    return this.characters >= 0 && isReadable(text);
  }

  /** False when its commands have too many words together. */
  takesWords(count: number): boolean {
    this.words -= count + 1;
    return this.words >= 0;
  }
}

/** Words beyond this are not taken apart, and lead to unknown places. */
export function isShortWord(word: string): boolean {
  return word.length <= longestWord && (word.match(/\{/g)?.length ?? 0) <= mostBracesInWord;
}

const longestWord = 4096;
const mostBracesInWord = 6;
