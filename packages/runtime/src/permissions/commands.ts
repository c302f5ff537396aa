import type { Segment } from './shell/reading.js';

/** One command of a shell text, as far as its words are known. */
export type ReadCommand = Pick<Segment, 'identifier' | 'words' | 'call' | 'wild' | 'isOpen'>;

/**
 * Whether a command is what a rule forbids: it begins with the rule's words, or it is called by its first ones and has
 * the other ones wherever they stand. So `git push --force` is also `git -C x push origin --force`, `rm -rf` also `rm -fr`.
 */
export function startsLike(command: ReadCommand, argument: string): boolean {
  const wanted = wordsOf(argument);
  return callings(command).some((words) => begins(words, wanted) || calls(words, wanted, command));
}

/** Whether a command would be what a rule forbids if words that are known only when it runs came out so. */
export function mayTurnInto(command: ReadCommand, argument: string): boolean {
  const [program, ...wanted] = wordsOf(argument);
  // A wildcard may become the name of a file that looks like an option.
  const isOpen = command.isOpen || command.wild?.some((word) => /^[-*?[]/.test(word));
  if (!isOpen || wanted.length === 0) return false;
  return callings(command).some(([name]) => name === program);
}

/** Whether a command is what a rule allows: so called, exactly that, or with `*` at its end, anything that so begins. */
export function isCommand({ identifier, words }: ReadCommand, argument: string): boolean {
  const wanted = wordsOf(argument);
  if (wanted.at(-1) === '*')
    return begins(words, wanted.slice(0, -1)) || begins(identifier.split(' '), wanted.slice(0, -1));
  return identifier === wanted.join(' ') || (words.length === wanted.length && begins(words, wanted));
}

/** `git:*` is `git *`. */
function wordsOf(argument: string): readonly string[] {
  return argument
    .replace(/:\*$/, ' *')
    .split(/\s+/)
    .filter((word) => word !== '');
}

/** `/bin/rm` is also `rm`: a rule that forbids goes by the name, wherever the program is. */
function callings({ words }: ReadCommand): readonly (readonly string[])[] {
  const [name = '', ...rest] = words;
  const plain = name.slice(name.lastIndexOf('/') + 1);
  return plain === name ? [words] : [words, [plain, ...rest]];
}

function begins(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((word, index) =>
    word === '*' ? index === wanted.length - 1 || words[index] !== undefined : words[index] === word,
  );
}

function calls(
  [name = '', ...given]: readonly string[],
  [program, ...wanted]: readonly string[],
  { identifier }: ReadCommand,
): boolean {
  if (name !== program) return false;
  const flagAt = wanted.findIndex((word) => word.startsWith('-'));
  const leading = wanted.slice(0, flagAt < 0 ? wanted.length : flagAt).filter((word) => word !== '*');
  const called = identifier.split(' ').slice(1);
  if (!leading.every((word, index) => called[index] === word)) return false;
  const rest = flagAt < 0 ? [] : wanted.slice(flagAt).filter((word) => word !== '*');
  const key = [program, ...leading.slice(0, 1)].join(' ');
  const synonyms = Object.hasOwn(longNames, key) ? (longNames[key] ?? {}) : {};
  const present = given.flatMap((word) => spelled(word, synonyms));
  return rest
    .flatMap((word) => spelled(word, synonyms))
    .every((word) => present.some((each) => each === word || isCutShort(each, word)));
}

/** Options that have two names, where rules are often about them. */
const longNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rm: { '--recursive': '-r', '-R': '-r', '--force': '-f' },
  cp: { '--recursive': '-r', '-R': '-r', '--force': '-f' },
  chmod: { '--recursive': '-R' },
  chown: { '--recursive': '-R' },
  'git push': { '--force': '-f', '--delete': '-d' },
  'git clean': { '--force': '-f' },
  'git checkout': { '--force': '-f' },
  'git branch': { '--delete': '-d', '--force': '-f' },
  'git commit': { '--no-verify': '-n', '--all': '-a' },
};

/** An option as each of the names it is known by; short ones may be joined, long ones have a value or be cut short. */
function spelled(word: string, synonyms: Readonly<Record<string, string>>): readonly string[] {
  if (/^-\w+$/.test(word)) return [...word.slice(1)].map((letter) => synonyms[`-${letter}`] ?? `-${letter}`);
  const name = word.startsWith('--') ? (word.split('=')[0] ?? word) : word;
  const known = Object.keys(synonyms).find((long) => isCutShort(name, long) || long === name);
  return [(known && synonyms[known]) ?? name];
}

/** Programs take the beginning of a long option for the whole. */
function isCutShort(given: string, whole: string): boolean {
  return given.length > 2 && given.startsWith('--') && whole.startsWith(given);
}
