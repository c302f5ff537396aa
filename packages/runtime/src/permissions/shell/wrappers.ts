import type { KnownWord } from './command-word.js';
import { plainName } from './plain-name.js';
import { asOneText, asText, type Wrapped } from './wrapped-commands.js';
import { afterOptions, innerAt, type OptionShape, optionTexts } from './wrapper-options.js';
import { hiding, loose, opaque, shellShape, shells, withCommandOption, wrappers } from './wrapper-tables.js';

/** What `name` runs besides itself; undefined for a command that runs nothing else. */
export function unwrap(name: string, words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const program = plainName(name);
  const own = special.get(program);
  if (own) return own(words);
  if (shells.has(program)) return shellTexts(words).map(asText);
  if (loose.has(program) || /\/ld-[\w.-]+\.so/.test(name)) return tails(words);
  if (opaque.has(program)) return [];
  return wrappedBy(program, words);
}

/** Whether its words, or what it reads, decide what else runs. */
export function runsOthers(name: string): boolean {
  const program = plainName(name);
  return [special, wrappers, shells, opaque, loose].some((names) => names.has(program));
}

/** A shell that is given neither text nor a file reads its commands. */
export function readsCommands(name: string, words: readonly KnownWord[]): boolean {
  const program = plainName(name);
  if (program === 'source' || program === '.') return isInput(words[0]);
  if (!shells.has(program) || shellTexts(words).length > 0) return false;
  const script = words[afterOptions(shellShape, words)];
  return script === undefined || isInput(script) || words.some(({ value }) => /^-[a-z]*s/.test(value));
}

/** What it runs is written elsewhere, or known only to it. */
export function hidesWhatItRuns(name: string, words: readonly KnownWord[]): boolean {
  const program = plainName(name);
  if (program === 'mapfile' || program === 'readarray')
    return words.some((word) => /^-\w*C/.test(word.value));
  if (shells.has(program)) return words[afterOptions(shellShape, words)]?.kind === 'dynamic';
  return hiding.has(program);
}

/** Programs and builtins with a grammar of their own. */
const special = new Map<string, (words: readonly KnownWord[]) => readonly Wrapped[] | undefined>([
  ['find', findActions],
  ['fd', fdActions],
  ['eval', asOneText],
  ['ssh', remoteCommand],
  ['su', (words) => commandOptions(words, /^-[a-z]*?c(.*)$|^--(?:session-)?command(?:=([\s\S]*))?$/)],
  ['trap', trapped],
  ['alias', (words) => words.flatMap(aliasText)],
  ['env', (words) => splitTexts(words) ?? wrappedBy('env', words)],
]);

const unknown: Wrapped = { type: 'unknown' };

function wrappedBy(program: string, words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const texts = withCommandOption.has(program) ? optionTexts(words, commandOption) : [];
  if (texts.length > 0) return texts.map(asText);
  const shape = wrappers.get(program);
  if (!shape || isQuestion(program, words)) return undefined;
  const inner = words.slice(innerAt(shape, words));
  if (program === 'watch' || program === 'parallel') return inner.map(asText);
  const wrapped: readonly Wrapped[] = inner.length > 0 ? [{ type: 'words', words: inner }] : [];
  return program === 'xargs' && takesMore(inner) ? [...wrapped, unknown] : wrapped;
}

const commandOption = /^(?:-\w*c()|--command(?:=([\s\S]*))?)$/;

/** Whether words that are read later, or put in place of `{}`, become a command. */
function takesMore([name, ...words]: readonly KnownWord[]): boolean {
  if (!name) return false;
  if (name.value.includes('{}')) return true;
  const program = plainName(name.value);
  if (shells.has(program)) {
    const texts = shellTexts(words);
    return texts.length === 0
      ? words.length === afterOptions(shellShape, words)
      : texts.some(({ value }) => value.includes('{}'));
  }
  const shape = wrappers.get(program);
  if (!shape) return special.has(program);
  const at = innerAt(shape, words);
  return at >= words.length || takesMore(words.slice(at));
}

/** `command -v git` only asks. */
function isQuestion(program: string, words: readonly KnownWord[]): boolean {
  return program === 'command' && /^-[vV]$/.test(words[0]?.value ?? '');
}

/** `trap - EXIT` takes back what was to run. */
function trapped(words: readonly KnownWord[]): readonly Wrapped[] {
  const action = words.find(({ value }) => !/^-./.test(value));
  return action && action.value !== '-' ? [asText(action)] : [];
}

/** What comes after the host is text for a shell there; without any, that shell reads its commands. */
function remoteCommand(words: readonly KnownWord[]): readonly Wrapped[] {
  const host = afterOptions(secureShell, words);
  const command = words.slice(afterOptions(secureShell, words, host + 1));
  return command.length > 0 ? asOneText(command) : [unknown];
}

const secureShell: OptionShape = { valued: 'BbcDEeFIiJLlmOoPpQRSWw' };

/** Values of options that are a command; without any, the program reads its commands. */
function commandOptions(words: readonly KnownWord[], option: RegExp): readonly Wrapped[] {
  const texts = optionTexts(words, option);
  return texts.length > 0 ? texts.map(asText) : [unknown];
}

function aliasText(word: KnownWord): readonly Wrapped[] {
  const at = word.value.indexOf('=');
  if (at < 0) return [];
  const value = word.value.slice(at + 1).replace(/^(['"])([\s\S]*)\1$/, '$2');
  return [asText({ ...word, value, kind: /[$`\\]/.test(value) ? 'dynamic' : 'literal' })];
}

/** Any of the words may be the first of a command; among very many, none is known. */
function tails(words: readonly KnownWord[]): readonly Wrapped[] {
  if (words.length > mostTails) return [unknown];
  return words.flatMap((_, index) => tail(words, index));
}

const mostTails = 40;

function tail(words: readonly KnownWord[], index: number): readonly Wrapped[] {
  const word = words[index];
  if (!word || word.value.startsWith('-')) return [];
  return /\s/.test(word.value) ? [asText(word)] : [{ type: 'words', words: words.slice(index) }];
}

/** `env -S` takes a whole command as one word. */
function splitTexts(words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const at = words.findIndex((word) => /^(?:-\w*S|--split-string(?:=|$))/.test(word.value));
  const word = words[at];
  if (!word) return undefined;
  const attached = word.value.replace(/^(?:-\w*?S|--split-string=?)/, '');
  const text = attached === '' ? words[at + 1] : { ...word, value: attached };
  const rest = words.slice(attached === '' ? at + 2 : at + 1);
  return [...(text ? [asText(text)] : []), ...tails(rest)];
}

/** Texts that a shell is given to run; `-c` may be joined with other letters. */
function shellTexts(words: readonly KnownWord[]): readonly KnownWord[] {
  const at = words.findIndex((word) => /^[-+]\w*c\w*$/.test(word.value));
  const text = at < 0 ? undefined : words.slice(at + 1).find((word) => !/^[-+]/.test(word.value));
  const others = optionTexts(words, /^(?:-C(.*)|--(?:init-)?command(?:=([\s\S]*))?)$/);
  return text ? [text, ...others] : others;
}

/** The script of a shell is what it is given to read. */
function isInput(word: KnownWord | undefined): boolean {
  return /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/self\/fd\/0)$/.test(word?.value ?? '');
}

function findActions(words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  return actions(words, /^-(?:exec|execdir|ok|okdir)$/);
}

/** Letters may be joined, and so may the command. */
function fdActions(words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const joined = optionTexts(words, /^(?:-[A-WYZa-wyz]*[xX](.+)|--exec(?:-batch)?=([\s\S]+))$/);
  const apart = actions(words, /^(?:-[A-WYZa-wyz]*[xX]|--exec(?:-batch)?)$/);
  return joined.length > 0 || apart ? [...joined.map(asText), ...(apart ?? [])] : undefined;
}

function actions(words: readonly KnownWord[], action: RegExp): readonly Wrapped[] | undefined {
  const starts = words.flatMap((word, index) => (action.test(word.value) ? [index + 1] : []));
  if (starts.length === 0) return undefined;
  return starts.flatMap((start): readonly Wrapped[] => {
    const rest = words.slice(start);
    const end = rest.findIndex((word) => word.value === ';' || word.value === '+');
    const inner = end < 0 ? rest : rest.slice(0, end);
    return [{ type: 'words', words: inner }, ...(inner[0]?.value.includes('{}') ? [unknown] : [])];
  });
}
