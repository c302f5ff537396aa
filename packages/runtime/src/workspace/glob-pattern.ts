import { sep } from 'node:path';

/**
 * A glob whose work grows with the product of the lengths of pattern and path, and never faster, whatever the model writes.
 * With `orBelow` a path matches too when some directory that it is in does.
 */
export function globMatcher(
  pattern: string,
  { orBelow = false }: { readonly orBelow?: boolean } = {},
): (path: string) => boolean {
  const alternatives = expandBraces(pattern).map((one) => {
    const anchored = one.includes('/') ? one : `**/${one}`;
    return anchored
      .split('/')
      .filter((name) => name !== '')
      .map(compileName);
  });
  return (path) => {
    const names = orBelow ? path.split('/').filter((name) => name !== '') : path.split('/');
    return names.length > 0 && alternatives.some((compiled) => matchNames(compiled, names, orBelow));
  };
}

/** About how many steps a pattern may take for each character of a path. */
export function globCost(pattern: string): number {
  return expandBraces(pattern).reduce((sum, one) => sum + one.length, 0);
}

/** Those of ripgrep's names that a pattern matches below their root, in order. */
export function matchingNames(search: {
  readonly pattern: string;
  readonly root: string;
  readonly listed: Uint8Array;
}): readonly string[] {
  const matches = globMatcher(search.pattern);
  const names = new TextDecoder().decode(search.listed).split('\0').slice(0, -1);
  return names.filter((name) => matches(below(search.root, name))).sort();
}

/** The part of a path that comes after its root, with `/` between names. */
function below(root: string, file: string): string {
  const rest = file.startsWith(root) ? file.slice(root.length) : file;
  return rest.split(sep).join('/').replace(/^\/+/, '') || file;
}

type Token = { readonly type: 'any' } | { readonly type: 'one'; fits(character: string): boolean };

/** One name of a path; `across` stands for any number of them. */
type NamePattern = 'across' | readonly Token[];

/** Braces multiply; more alternatives than this are cut off. */
const mostAlternatives = 256;

/** Every text that one with braces stands for: `{a,b}c` is `ac` and `bc`. */
export function expandBraces(pattern: string): readonly string[] {
  let open = [pattern];
  const done: string[] = [];
  while (open.length > 0 && open.length + done.length <= mostAlternatives) {
    const next: string[] = [];
    for (const one of open) {
      const group = innermostBraces(one);
      if (group) next.push(...group.options.map((option) => group.before + option + group.after));
      else done.push(one);
    }
    open = next;
  }
  return [...new Set([...done, ...open])].slice(0, mostAlternatives);
}

function innermostBraces(pattern: string) {
  const close = pattern.indexOf('}');
  const start = close === -1 ? -1 : pattern.lastIndexOf('{', close);
  if (start === -1) return undefined;
  const options = pattern.slice(start + 1, close).split(',');
  return { before: pattern.slice(0, start), options, after: pattern.slice(close + 1) };
}

function compileName(name: string): NamePattern {
  if (name === '**') return 'across';
  const tokens: Token[] = [];
  for (let at = 0; at < name.length; ) {
    const { token, length } = tokenAt(name, at);
    tokens.push(token);
    at += length;
  }
  return tokens;
}

function tokenAt(name: string, at: number): { readonly token: Token; readonly length: number } {
  const character = name.charAt(at);
  if (character === '*') return { token: { type: 'any' }, length: 1 };
  if (character === '?') return { token: { type: 'one', fits: () => true }, length: 1 };
  const set = character === '[' ? /^\[([!^]?)(\]?[^\]]*)\]/.exec(name.slice(at)) : null;
  if (set) return { token: setToken(set[2] ?? '', set[1] !== ''), length: set[0].length };
  const isEscape = character === '\\' && at + 1 < name.length;
  const literal = isEscape ? name.charAt(at + 1) : character;
  return { token: { type: 'one', fits: (one) => one === literal }, length: isEscape ? 2 : 1 };
}

function setToken(members: string, isNegated: boolean): Token {
  const ranges = [...members.matchAll(/([\s\S])-([\s\S])|([\s\S])/g)].map(
    ([, low, high, single]) => [low ?? single ?? '', high ?? single ?? ''] as const,
  );
  const fits = (one: string) => ranges.some(([low, high]) => low <= one && one <= high) !== isNegated;
  return { type: 'one', fits };
}

function matchNames(pattern: readonly NamePattern[], names: readonly string[], orBelow: boolean): boolean {
  return matchWild(pattern, names, {
    isWild: (part) => part === 'across',
    fits: (part, name) => part !== 'across' && matchName(part, name),
    orBeginning: orBelow,
  });
}

function matchName(pattern: readonly Token[], name: string): boolean {
  return matchWild(pattern, name, {
    isWild: (token) => token.type === 'any',
    fits: (token, character) => token.type === 'one' && token.fits(character),
  });
}

/**
 * Wild parts take as little as they can; only the last one met is ever tried again. So the pattern is used up as early as it
 * can be, which is all that the beginning of a text has to show.
 */
function matchWild<P, T>(
  pattern: ArrayLike<P>,
  text: ArrayLike<T>,
  {
    isWild,
    fits,
    orBeginning = false,
  }: { isWild(part: P): boolean; fits(part: P, item: T): boolean; readonly orBeginning?: boolean },
): boolean {
  let at = 0;
  let wildAt = -1;
  let takenTo = 0;
  for (let position = 0; position < text.length; ) {
    const part = pattern[at];
    if (at < pattern.length && part !== undefined && isWild(part)) {
      wildAt = at;
      takenTo = position;
      at += 1;
    } else if (at < pattern.length && part !== undefined && fits(part, text[position] as T)) {
      at += 1;
      position += 1;
    } else if (orBeginning && at === pattern.length && position > 0) return true;
    else {
      if (wildAt === -1) return false;
      takenTo += 1;
      position = takenTo;
      at = wildAt + 1;
    }
  }
  return Array.prototype.slice.call(pattern, at).every(isWild);
}
