/**
 * Text of models, tools, files and users, made safe for a terminal: sequences that steer one are left out whole, other
 * control characters and marks of direction too, and what turns the direction of text is shown by its code. Line ends and
 * tabs stay.
 */
export function clean(text: string): string {
  if (!suspicious.test(text)) return text;
  return text
    .replace(halves, '\uFFFD')
    .replace(sequences, '')
    .replace(lineEnds, '\n')
    .replace(controls, '')
    .replace(turning, (character) => `\\u${character.charCodeAt(0).toString(16)}`);
}

/** The lines of a text, made safe: tabs are spaces, and a line that was written over is what was written last. */
export function cleanLines(text: string): readonly string[] {
  return text
    .replace(lineEnds, '\n')
    .split('\n')
    .map((line) => cleanLine(line));
}

/** The lines of a question, made safe: a carriage return hides nothing of it, it ends a line. */
export function askedLines(text: string): readonly string[] {
  return cleanLines(text.replace(/\r\n?/g, '\n'));
}

/** One line, made safe; line ends within it are spaces. */
export function cleanLine(text: string): string {
  const last = text.includes('\r') ? (text.split('\r').findLast((part) => part !== '') ?? '') : text;
  return expandTabs(clean(last).replaceAll('\n', ' '));
}

const tabWidth = 4;

function expandTabs(line: string): string {
  if (!line.includes('\t')) return line;
  let width = 0;
  return line
    .split(/(\t)/)
    .map((part) => {
      const text = part === '\t' ? ' '.repeat(tabWidth - (width % tabWidth)) : part;
      width += text.length;
      return text;
    })
    .join('');
}

const suspicious =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFDD0-\uFDEF\uFEFF\p{Cs}]/u;

/** Halves of characters without their other half: terminals show a sign for each, which has a width. */
const halves = /\p{Cs}/gu;

/** CSI, then strings (DCS, OSC, SOS, PM, APC) up to their end or the end of the line, then two-character escapes. */
const sequences =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /(?:\u001B\[|\u009B)[0-?]*[ -/]*[@-~]?|(?:\u001B[PX\]^_]|[\u0090\u0098\u009D-\u009F])[^\u0007\u001B\u009C\n]*(?:\u0007|\u001B\\|\u009C)?|\u001B[ -/]*[0-~]?/g;

const lineEnds = /\r\n|\u2028|\u2029/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const controls = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\uFDD0-\uFDEF\uFEFF]/g;
const turning = /[\u202A-\u202E\u2066-\u2069]/g;

/** Lines in which nothing hides, for what users decide about: every character that could is shown by its code. */
export function visibleLines(text: string): readonly string[] {
  return text.split('\n').map((line) => expandTabs(line.replace(hidden, codeOf)));
}

/** Control characters but tabs, format characters, and all that Unicode lets a screen leave out: tags, fillers, marks of direction. */
const hidden = /(?!\t)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\uFDD0-\uFDEF]/gu;

function codeOf(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  const text = code.toString(16);
  if (code > 0xffff) return `\\u{${text}}`;
  return code < 0x100 ? `\\x${text.padStart(2, '0')}` : `\\u${text.padStart(4, '0')}`;
}
