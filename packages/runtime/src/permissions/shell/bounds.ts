/** More than this is not read: what it would do is asked about as a whole. */
const longestText = 16 * 1024;
const mostBraces = 200;
const mostDocuments = 50;
/** Bounds all that is read in one command, with the texts it hands to other shells. */
const mostCharacters = 64 * 1024;
const mostWords = 4000;

/** Whether the parser, whose work grows faster than some texts do, may be given this one. */
export function isReadable(text: string): boolean {
  if (text.length > longestText) return false;
  let braces = 0;
  let documents = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === openBrace) braces += 1;
    if (code === lessThan && text.charCodeAt(at + 1) === lessThan) documents += 1;
  }
  return braces <= mostBraces && documents <= mostDocuments;
}

const openBrace = 0x7b;
const lessThan = 0x3c;

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

/** Words beyond this are not taken apart, and lead nobody knows where. */
export function isShortWord(word: string): boolean {
  return word.length <= longestWord && (word.match(/\{/g)?.length ?? 0) <= mostBracesInWord;
}

const longestWord = 4096;
const mostBracesInWord = 6;
