/** Why arguments that a model wrote are not taken; undefined when they are. Every later walk over them stays within these bounds. */
export function excessIn(argumentsText: string): string | undefined {
  if (argumentsText.length > mostCharacters)
    return `they have ${argumentsText.length} characters, and at most ${mostCharacters} are accepted`;
  let depth = 0;
  let values = 0;
  for (let at = 0; at < argumentsText.length; at += 1) {
    const code = argumentsText.charCodeAt(at);
    if (code === quote) at = endOfString(argumentsText, at);
    else if (code === comma) values += 1;
    else if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) depth -= 1;
    else continue;
    if (depth > mostLevels) return `they nest deeper than ${mostLevels} levels`;
    if (values > mostValues) return `they have more than ${mostValues} values`;
  }
  return undefined;
}

/** More than a model writes in one answer. */
const mostCharacters = 2 * 1024 * 1024;
const mostLevels = 256;
const mostValues = 50_000;

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === backslash) at += 1;
    else if (code === quote) return at;
  }
  return text.length;
}

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
