import { subcommandAt } from './names.js';
import { plainName } from './plain-name.js';
import type { KnownWord } from './words.js';

/** True only when the command, with these words, is known to change nothing. */
export function isReadOnly(name: string, words: readonly KnownWord[]): boolean {
  const program = plainName(name);
  if (harmless.has(program)) return !followsLinks(program, words);
  const check = conditional.get(program);
  if (check) return areKnown(words) && check(words.map((word) => word.value));
  if (program !== 'git') return isQuestionOfVersion(words);
  return areKnown(words) && gitReads(words);
}

/** A command that is known as one that reads, and was told to do more: its name alone would promise too little. */
export function exceedsItsName(name: string, words: readonly KnownWord[]): boolean {
  const program = plainName(name);
  if (program === 'git') return isGitReader(words) && !gitReads(words);
  const check = readers.get(program);
  return check !== undefined && !check(words.map((word) => word.value));
}

/** What the shell makes of these words cannot be an option that was not looked at. */
function areKnown(words: readonly KnownWord[]): boolean {
  return words.every(({ kind, value }) => kind === 'literal' || (kind === 'glob' && /^[^-*?[]/.test(value)));
}

/** Searches that follow every link they meet read more than their words say. */
function followsLinks(program: string, words: readonly KnownWord[]): boolean {
  const values = words.map((word) => word.value);
  if (program === 'diff') return hasOption(values, 'r', ['--recursive']);
  return /^[ef]?grep$/.test(program) && hasOption(values, 'R', ['--dereference-recursive']);
}

/** They write nothing and run nothing, whatever their arguments are. */
const harmless = new Set(
  (
    'ls pwd echo cat head tail wc nl tac rev cut tr paste comm diff cmp stat du df basename dirname realpath ' +
    'readlink whoami id groups uname which whereis type true false uptime printenv arch nproc free lscpu lsblk ' +
    'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum cksum sum b2sum od hexdump strings seq sleep ' +
    'fold expand unexpand column grep egrep fgrep jq cd : tty locale getconf'
  ).split(' '),
);

/** Of these one expects that they read: they do, unless one of some options is given. */
const readers = new Map<string, (words: readonly string[]) => boolean>([
  [
    'sort',
    (words) =>
      !hasOption(words, 'oT', ['--output', '--compress-program', '--temporary-directory', '--files0-from']),
  ],
  ['uniq', (words) => words.filter((word) => !/^-[^-]/.test(word)).length <= 1],
  ['tree', (words) => !hasOption(words, 'oRl', ['--output'])],
  ['file', (words) => !hasOption(words, 'C', ['--compile'])],
  [
    'rg',
    (words) => !hasOption(words, 'zL', ['--follow', '--pre', '--pre-glob', '--hostname-bin', '--search-zip']),
  ],
  ['find', (words) => !words.some((word) => findActions.test(word))],
  ['fd', (words) => !hasOption(words, 'xXL', ['--exec', '--exec-batch', '--follow'])],
  ['sed', isHarmlessSed],
  ['awk', isHarmlessAwk],
  ['gawk', isHarmlessAwk],
  ['mawk', isHarmlessAwk],
  ['nawk', isHarmlessAwk],
]);

/** The same, for those that are as often used for something else. */
const conditional = new Map<string, (words: readonly string[]) => boolean>([
  ...readers,
  ['date', (words) => words.every((word) => /^(?:\+|-u$|-I|--utc$|--iso-8601|--rfc-|-R$)/.test(word))],
  ['hostname', (words) => words.length === 0],
  ['printf', (words) => !words[0]?.startsWith('-')],
  ['test', (words) => !words.some((word) => word === '-v' || word === '-R')],
  ['[', (words) => !words.some((word) => word === '-v' || word === '-R')],
  [
    'set',
    (words) => words.every((word) => /^(?:[-+][eux]+o?|[-+]o|pipefail|errexit|nounset|xtrace)$/.test(word)),
  ],
  ['command', (words) => words[0] === '-v' || words[0] === '-V'],
  // A bare `e` shows the environment of other processes, with what is secret in it.
  ['ps', (words) => !words.some((word) => /^[a-z]*e/i.test(word) || word.includes('env'))],
  ['wait', (words) => !words.some((word) => word.startsWith('-p'))],
]);

const findActions = /^-(?:exec|execdir|ok|okdir|delete|fprint0?|fprintf|fls|files0-from|follow|L)$/;

/** Short options may be joined (`-uo`), long ones cut short (`--outp`). */
function hasOption(words: readonly string[], short: string, long: readonly string[]): boolean {
  return words.some((word) => {
    if (!word.startsWith('--'))
      return /^-[^-]/.test(word) && [...short].some((letter) => word.includes(letter));
    const given = word.split('=')[0] ?? word;
    return given.length > 2 && long.some((option) => option.startsWith(given));
  });
}

function isQuestionOfVersion(words: readonly KnownWord[]): boolean {
  const [only] = words;
  return words.length === 1 && only?.kind === 'literal' && only.value === '--version';
}

/** What git's reading subcommands must not be asked for: files written, pagers and drivers run. */
const gitForbidden = [
  '--output',
  '--output-directory',
  '--open-files-in-pager',
  '--ext-diff',
  '--textconv',
  '--filters',
  '--exec',
];

/** Options that begin like some of those and are none of them. */
const gitHarmless = /^--(?:text|filter)(?:=|$)/;

const gitReaders = new Set(
  'status log diff show rev-parse ls-files ls-tree cat-file blame annotate describe shortlog rev-list name-rev merge-base for-each-ref grep count-objects check-ignore diff-tree diff-index diff-files show-ref whatchanged'.split(
    ' ',
  ),
);

/** Subcommands that read in these forms only. */
const gitForms: Readonly<Record<string, RegExp>> = {
  branch: /^(?:(?:-a|-r|-v|-vv|--all|--remotes|--list|--show-current|--no-color) ?)*$/,
  tag: /^(?:(?:-l|--list|-n\d*) ?)*$/,
  remote: /^(?:-v|--verbose)?$|^(?:get-url|show) [\w.-]+$/,
  stash: /^list$/,
  reflog: /^(?:show)?$/,
  config: /^(?:--get|--get-all|--list|-l|get|list)(?: [\w.-]+)?$/,
  worktree: /^list$/,
};

function isGitReader(words: readonly KnownWord[]): boolean {
  const subcommand = words[subcommandAt('git', words)]?.value ?? '';
  // What is set decides what git runs later: pagers, editors, drivers, aliases.
  return gitReaders.has(subcommand) || subcommand === 'config';
}

function gitReads(words: readonly KnownWord[]): boolean {
  const at = subcommandAt('git', words);
  const values = words.map((word) => word.value);
  if (at < 0) return isQuestionOfVersion(words);
  const subcommand = values[at] ?? '';
  const rest = values.slice(at + 1);
  const form = Object.hasOwn(gitForms, subcommand) ? gitForms[subcommand] : undefined;
  if (form) return form.test(rest.join(' '));
  const others = rest.filter((value) => !gitHarmless.test(value));
  return gitReaders.has(subcommand) && !hasOption(others, subcommand === 'grep' ? 'O' : '', gitForbidden);
}

/** Prints, deletes, quits and substitutes, without the flags that write files or run commands. */
const harmlessSed =
  /^\s*(?:(?:\d+|\$|\/[^/\\\n]*\/)(?:,(?:[+~]?\d+|\$|\/[^/\\\n]*\/))?)?!?\s*(?:[pdq=]|s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*)\s*$/;

function isHarmlessSed(values: readonly string[]): boolean {
  const options = values.filter((value) => value.startsWith('-'));
  if (!options.every((option) => /^-[nErsuz]+$/.test(option))) return false;
  const program = values.find((value) => !value.startsWith('-'));
  return program === undefined ? false : program.split(';').every((part) => harmlessSed.test(part));
}

function isHarmlessAwk(values: readonly string[]): boolean {
  const rest = [...values];
  while (/^-F./.test(rest[0] ?? '') || rest[0] === '-F') rest.splice(0, rest[0] === '-F' ? 2 : 1);
  const program = rest[0];
  if (program === undefined || program.startsWith('-')) return false;
  return !/system|getline|close|fflush|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|ARG[CV]|[|@&`]|>/.test(
    program.replaceAll('&&', ''),
  );
}
