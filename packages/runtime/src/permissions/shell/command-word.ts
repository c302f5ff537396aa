import type { Word, WordPart } from 'unbash';
import { expandBraces } from '../../workspace/glob-pattern.js';

/** A word of a command, as far as it can be known without running anything. */
export interface KnownWord {
  /** What the program will get; for `dynamic` words, what was written. */
  readonly value: string;
  /** `glob` may become several file names; `dynamic` may become anything. */
  readonly kind: 'literal' | 'glob' | 'dynamic';
  readonly start: number;
}

/** Decides how much of a word is known before it is expanded. */
export function readWord(word: Word): KnownWord {
  const kind = word.parts ? kindOf(word.parts) : 'literal';
  return { value: kind === 'dynamic' ? word.text : word.value, kind, start: word.pos };
}

/** Files and directories that a word may name, as it was written; more rather than fewer. */
export function pathsIn(word: string): readonly string[] {
  return /\{[^{}]*,/.test(word) ? expandBraces(word).flatMap(pathsInOne) : pathsInOne(word);
}

/** Addresses that a word names. */
export function urlsIn(value: string): readonly string[] {
  return value.match(/\b(?:https?|ftps?|sftp|wss?|git|ssh|git\+ssh|rsync):\/\/[^\s'"<>`]+/gi) ?? [];
}

/** An address written without its scheme, as curl and wget take it. */
export function bareUrl(value: string): string | undefined {
  if (value.startsWith('-') || value.startsWith('@') || hasScheme.test(value)) return undefined;
  const isHost =
    /^(?:[^/\s@]*@)?(?:(?:localhost|\[[\da-f:]+\]|[\w-]+(?:\.[\w-]+)+)(?::\d+)?|[\w-]+:\d+)(?:[/?#]|$)/i;
  return isHost.test(value) ? `http://${value}` : undefined;
}

/** A place on another machine as git, scp and rsync take it: `git@example.com:a/b.git`. */
export function remotePlace(value: string): string | undefined {
  const [, host, path] = /^([\w.-]+@[\w.-]+):(?!\/\/)(.*)$/.exec(value) ?? [];
  return host === undefined ? undefined : `ssh://${host}/${path?.replace(/^\//, '') ?? ''}`;
}

function pathsInOne(value: string): readonly string[] {
  const local = localPlace(value);
  if (local !== undefined) return [local];
  if (hasScheme.test(value)) return [];
  const [whole = '', ...more] = [value.replace(/^@/, ''), ...value.split(/[=:,@<]/)].map((piece) =>
    piece.replace(/^-\w+?(?=[/~]|\.\.(?:\/|$))/, ''),
  );
  const away = more.filter(leadsAway);
  if (away.length > 0) return away;
  return !whole.startsWith('-') && looksLikePath(whole) ? [whole] : [];
}

/** An address without a host, or of a file: `file:///x`, `git+file:///x`, and `file://x/y`, of which git makes `/x/y`. */
function localPlace(value: string): string | undefined {
  const [, scheme = '', place] = /^([a-z][a-z0-9+.-]*):\/\/(.*)$/i.exec(value) ?? [];
  const isOfFile = /(?:^|\+)file$/i.test(scheme);
  const path = isOfFile ? place?.replace(/^localhost(?=\/)/i, '') : place;
  if (path?.startsWith('/')) return path;
  return isOfFile && path !== undefined ? `/${path}` : undefined;
}

const hasScheme = /^[a-z][a-z0-9+.-]*:\/\//i;

/** A piece of a longer word that leads out of the current directory. */
function leadsAway(piece: string): boolean {
  return /^[/~]/.test(piece) || /(^|\/)\.\.(\/|$)/.test(piece);
}

function looksLikePath(value: string): boolean {
  return (
    value.includes('/') ||
    /^(?:~|\.{1,2}$|\$(?:HOME|PWD|\{HOME\}|\{PWD\})$)/.test(value) ||
    /^[\w.-]*\.[a-z]\w{0,7}$/i.test(value)
  );
}

function kindOf(parts: readonly WordPart[]): KnownWord['kind'] {
  const kinds = parts.map(kindOfPart);
  if (kinds.includes('dynamic')) return 'dynamic';
  return kinds.includes('glob') ? 'glob' : 'literal';
}

function kindOfPart(part: WordPart): KnownWord['kind'] {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return 'literal';
    case 'DoubleQuoted':
      return kindOf(part.parts);
    case 'Glob':
      return part.parts && kindOf(part.parts) === 'dynamic' ? 'dynamic' : 'glob';
    default:
      return 'dynamic';
  }
}
