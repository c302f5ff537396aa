import type { KnownWord } from './command-word.js';
import { isNamedTool, runsNamed } from './names.js';
import { isInTable } from './programs/table.js';

/**
 * Whether an approval of a command's name covers these words though the table does not understand them. Of a program that
 * the table has, only what it understands is covered. Of a tool whose sub-commands are known, no options are known. Of any
 * other program an approval is for any use, in words that stand for themselves.
 */
export function isCoveredByName(name: string, words: readonly KnownWord[]): boolean {
  if (isInTable(name)) return false;
  if (!isNamedTool(name) || runsNamed(name, words)) return true;
  return words.every(({ value }) => !value.startsWith('-'));
}
