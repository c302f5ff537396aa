/** One command of a shell text, as far as its words are known. */
export interface ReadCommand {
  /** What it is called when people approve it: `git push`. */
  readonly identifier: string;
  /** Its name and arguments; those known only when it runs, as they were written. */
  readonly words: readonly string[];
}

/**
 * Whether a command is what a rule forbids: it begins with the rule's words, or it is called by its first ones and has
 * the other ones wherever they stand. So `git push --force` is also `git -C x push origin --force`, `rm -rf` also `rm -fr`.
 */
export function startsLike(command: ReadCommand, argument: string): boolean {
  const wanted = wordsOf(argument);
  return callings(command).some((words) => begins(words, wanted) || calls(words, wanted, command));
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
  const plain = name.replace(/^.*\//, '');
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
  return rest.every((word) => isGiven(word, given));
}

/** Short options may be joined and stand in any order. */
function isGiven(wanted: string, given: readonly string[]): boolean {
  if (given.includes(wanted)) return true;
  if (wanted.startsWith('--')) return given.some((word) => word.startsWith(`${wanted}=`));
  if (!/^-\w+$/.test(wanted)) return false;
  const letters = given.filter((word) => /^-\w+$/.test(word)).join('');
  return [...wanted.slice(1)].every((letter) => letters.includes(letter));
}
