import type { Segment } from './shell/reading.js';

/** One command of a shell text, as far as its words are known. */
export type ReadCommand = Pick<Segment, 'identifier' | 'words' | 'call' | 'wild' | 'isOpen'>;

/**
 * Whether a command is what a rule forbids: it begins with the rule's words, or it is called by its first ones and has
 * the other ones wherever they stand. So `git push --force` is also `git -C x push origin --force`, `rm -rf` also `rm -fr`.
 */
export function matchesDenyRule(command: ReadCommand, argument: string): boolean {
  const wanted = wordsOf(argument);
  return callings(command).some((words) => begins(words, wanted) || calls(words, wanted, command));
}

/** Whether a command could be what a rule forbids, because some of its words are known only when it runs. */
export function mayMatchDenyRule(command: ReadCommand, argument: string): boolean {
  const [program, ...wanted] = wordsOf(argument);
  // A wildcard may become the name of a file that looks like an option.
  const isOpen = command.isOpen || command.wild?.some((word) => /^[-*?[]/.test(word));
  if (!isOpen || wanted.length === 0) return false;
  return callings(command).some(([name]) => name === program);
}

/** Whether a command is what a rule allows: so called, exactly that, or with `*` at its end, anything that so begins. */
export function matchesAllowRule({ identifier, words }: ReadCommand, argument: string): boolean {
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

/** So called, with the other words wherever they stand; where its sub-command is not known, any of its words may be it. */
function calls(
  [name = '', ...given]: readonly string[],
  [program = '', ...wanted]: readonly string[],
  { identifier }: ReadCommand,
): boolean {
  if (name !== program) return false;
  const flagAt = wanted.findIndex((word) => word.startsWith('-'));
  const leading = wanted.slice(0, flagAt < 0 ? wanted.length : flagAt).filter((word) => word !== '*');
  const called = identifier.split(' ').slice(1);
  const isCalled = (word: string, index: number) =>
    index < called.length && !takesTargets.has(program) ? called[index] === word : given.includes(word);
  if (!leading.every(isCalled)) return false;
  const rest = flagAt < 0 ? [] : wanted.slice(flagAt).filter((word) => word !== '*');
  const meanings = meaningsOf([program, ...leading]);
  const present = given.flatMap((word) => meantBy(word, meanings));
  const isPresent = (word: string) => present.some((each) => each === word || isCutShort(each, word));
  return rest
    .flatMap((word) => spelled(word, meanings.synonyms))
    .every((word) => isPresent(word) || (meanings.joined?.[word]?.every(isPresent) ?? false));
}

/** Programs of whose words each is a target to build. */
const takesTargets: ReadonlySet<string> = new Set(
  'make gmake just rake gradle gradlew mvn ant ninja'.split(' '),
);

interface Meanings {
  /** Options that have two names, where rules are often about them. */
  readonly synonyms: Readonly<Record<string, string>>;
  /** Options that are others in one. */
  readonly joined?: Readonly<Record<string, readonly string[]>>;
  /** Options that do what others are for as well. */
  readonly implied?: Readonly<Record<string, readonly string[]>>;
  /** What a whole word does that an option is for as well. */
  readonly also?: (word: string) => readonly string[];
}

const known: Readonly<Record<string, Meanings>> = {
  rm: {
    synonyms: { '--recursive': '-r', '-R': '-r', '--force': '-f' },
    also: (word) => (/^--i[a-z]*=n/.test(word) ? ['-f'] : []),
  },
  cp: {
    synonyms: { '--recursive': '-r', '-R': '-r', '--force': '-f', '--archive': '-a' },
    implied: { '-a': ['-r'] },
  },
  mv: { synonyms: { '--force': '-f' } },
  ln: { synonyms: { '--force': '-f', '--symbolic': '-s' } },
  chmod: { synonyms: { '--recursive': '-R' } },
  chown: { synonyms: { '--recursive': '-R' } },
  'git push': {
    synonyms: { '--force': '-f', '--delete': '-d' },
    implied: { '--force-with-lease': ['-f'], '--mirror': ['-f', '-d'], '--prune': ['-d'] },
    also: (word) => [
      ...(word.startsWith('+') ? ['-f'] : []),
      // `:branch` and `branch:` push nothing in place of something.
      ...(/^\+?:.|.:$/.test(word) ? ['-d'] : []),
    ],
  },
  'git clean': { synonyms: { '--force': '-f' } },
  'git checkout': { synonyms: { '--force': '-f' } },
  'git switch': {
    synonyms: { '--force': '-f', '--force-create': '-C', '--create': '-c' },
    implied: { '--discard-changes': ['-f'] },
  },
  'git branch': {
    synonyms: { '--delete': '-d', '--force': '-f', '--move': '-m', '--copy': '-c' },
    joined: { '-D': ['-d', '-f'], '-M': ['-m', '-f'], '-C': ['-c', '-f'] },
  },
  'git tag': { synonyms: { '--delete': '-d', '--force': '-f' } },
  'git rm': { synonyms: { '--force': '-f' } },
  'git worktree': { synonyms: { '--force': '-f' } },
  'git stash': { synonyms: { '--all': '-a', '--include-untracked': '-u' } },
  'git commit': { synonyms: { '--no-verify': '-n', '--all': '-a' } },
  'docker rm': { synonyms: { '--force': '-f', '--volumes': '-v' } },
  'docker rmi': { synonyms: { '--force': '-f' } },
};

function meaningsOf([program, subcommand]: readonly string[]): Meanings {
  const key = [`${program} ${subcommand}`, `${program}`].find((each) => Object.hasOwn(known, each));
  return (key !== undefined && known[key]) || { synonyms: {} };
}

/** Every option that a word stands for: under each of its names, with those that it implies. */
function meantBy(word: string, { synonyms, joined = {}, implied = {}, also }: Meanings): readonly string[] {
  const more = also?.(word) ?? [];
  if (!word.startsWith('-')) return [word, ...more];
  const names = spelled(word, synonyms);
  const others = names.flatMap((name) =>
    Object.entries({ ...joined, ...implied })
      .filter(([each]) => each === name || isCutShort(name, each))
      .flatMap(([, each]) => each),
  );
  return [...names, ...others, ...more];
}

/** An option as each of the names it is known by; short ones may be joined, long ones have a value or be cut short. */
function spelled(word: string, synonyms: Readonly<Record<string, string>>): readonly string[] {
  if (/^-\w+$/.test(word)) return [...word.slice(1)].map((letter) => synonyms[`-${letter}`] ?? `-${letter}`);
  const name = word.startsWith('--') ? (word.split('=')[0] ?? word) : word;
  const whole = Object.keys(synonyms).find((long) => isCutShort(name, long) || long === name);
  return [(whole && synonyms[whole]) ?? name];
}

/** Programs take the beginning of a long option for the whole. */
function isCutShort(given: string, whole: string): boolean {
  return given.length > 2 && given.startsWith('--') && whole.startsWith(given);
}
