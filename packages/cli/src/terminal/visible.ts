/** Text on one line in which nothing hides: what would steer a terminal is shown by its code. */
export function visible(text: string): string {
  return text.replace(unseen, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code > 0xffff) return `\\u{${hex(code, 5)}}`;
    return known[character] ?? (code < 0x100 ? `\\x${hex(code, 2)}` : `\\u${hex(code, 4)}`);
  });
}

/** Text that may go to a terminal as it is: lines and tabs stay, whatever would steer it is left out. */
export function harmless(text: string): string {
  return text.replace(steering, '');
}

/** At most so many characters, with a sign that there was more. */
export function shortened(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most - 1)}…`;
}

const known: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** Control characters, format characters, and all that Unicode lets a screen leave out: tags, fillers, marks of direction. */
const unseen = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const steering = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/g;

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
