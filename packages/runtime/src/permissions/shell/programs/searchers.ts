import type { KnownWord } from '../command-word.js';
import { each, has, type Program, program, type Understood } from './program.js';

const grep =
  '-EFGPivwxclLoqsbHhnTZaIrUzy -e: -m: -A: -B: -C: -f: -d: -D: -# --extended-regexp --fixed-strings --basic-regexp ' +
  '--perl-regexp --regexp= --file= --ignore-case --no-ignore-case --invert-match --word-regexp --line-regexp --count ' +
  '--color=? --colour=? --files-without-match --files-with-matches --max-count= --only-matching --quiet --silent ' +
  '--no-messages --byte-offset --with-filename --no-filename --label= --line-number --initial-tab --null ' +
  '--after-context= --before-context= --context= --text --binary-files= --directories= --devices= --exclude= ' +
  '--exclude-from= --include= --exclude-dir= --recursive --line-buffered --null-data';

/** Programs that look for text and for files. Those of their options that follow links, write or run are not here. */
export const searchers: readonly (readonly [string, Program])[] = [
  ...each('grep egrep fgrep', withPattern(program('reads', grep))),
  [
    'rg',
    program(
      'reads',
      '-abcFhHIilnNopPqsSUvVwxu0. -A: -B: -C: -d: -e: -E: -f: -g: -j: -m: -M: -r: -t: -T: --after-context= --before-context= ' +
        '--context= --count --count-matches --files --files-with-matches --files-without-match --fixed-strings --glob= ' +
        '--iglob= --hidden --ignore-case --invert-match --json --line-number --no-line-number --max-count= --max-depth= ' +
        '--maxdepth= --max-columns= --max-filesize= --multiline --multiline-dotall --no-filename --no-heading --heading ' +
        '--no-ignore --no-ignore-vcs --no-messages --no-config --only-matching --passthru --pcre2 --pretty --quiet ' +
        '--regexp= --replace= --smart-case --case-sensitive --sort= --sortr= --stats --text --threads= --trim --type= ' +
        '--type-not= --type-list --unrestricted --vimgrep --with-filename --word-regexp --line-regexp --color= --colors= ' +
        '--column --null --crlf --byte-offset --context-separator= --ignore-file= --file= --one-file-system --engine=',
    ),
  ],
  ...each(
    'fd fdfind',
    program(
      'reads',
      '-HIusigFapq0V1 -d: -t: -e: -E: -S: -c: -j: -o: --hidden --no-ignore --no-ignore-vcs --unrestricted --case-sensitive ' +
        '--ignore-case --glob --regex --fixed-strings --absolute-path --full-path --print0 --max-depth= --min-depth= ' +
        '--exact-depth= --prune --type= --extension= --exclude= --size= --changed-within= --changed-before= --owner= ' +
        '--color= --threads= --max-results= --quiet --strip-cwd-prefix --path-separator= --and=',
    ),
  ),
  ['find', find],
];

/** The first operand is what to look for, unless options say it. */
function withPattern(search: Program): Program {
  return (words) => {
    const call = search(words);
    if (!call || has(call, '-e', '-f', '--regexp', '--file')) return call;
    const [pattern, ...operands] = call.operands;
    return pattern?.kind === 'literal' ? { ...call, operands, texts: [pattern] } : call;
  };
}

const findFlags = new Set(
  (
    '-empty -print -print0 -ls -prune -quit -true -false -not -a -and -o -or ! ( ) , -depth -d -mount -xdev -daystart ' +
    '-noleaf -ignore_readdir_race -noignore_readdir_race -nouser -nogroup -readable -writable -executable -warn -nowarn ' +
    '-help --help -version --version'
  ).split(' '),
);
const findValues = new Set(
  (
    '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -size -mtime -atime -ctime ' +
    '-mmin -amin -cmin -newer -anewer -cnewer -newermt -newerat -newerct -maxdepth -mindepth -perm -user -group -uid -gid ' +
    '-links -inum -samefile -lname -ilname -fstype -printf -used'
  ).split(' '),
);

/** Of these the value is a file; of all others it is a pattern or a number. */
const findFiles = new Set('-newer -anewer -cnewer -samefile'.split(' '));

/** Places first, then an expression of tests; actions that run, write or delete are not among them. */
function find(words: readonly KnownWord[]): Understood | undefined {
  if (words.some(({ kind }) => kind === 'dynamic')) return undefined;
  const isGlobal = ({ value }: KnownWord) => /^-(?:[HPE]|O\d)$/.test(value);
  let at = words.findIndex((word) => !isGlobal(word));
  if (at < 0) return { role: 'reads', options: [], operands: [] };
  const operands: KnownWord[] = [];
  const texts: KnownWord[] = [];
  for (let word = words[at]; word && !/^(?:-|[(!),]$)/.test(word.value); word = words[at]) {
    operands.push(word);
    at += 1;
  }
  for (; at < words.length; at += 1) {
    const word = words[at];
    if (word?.kind !== 'literal') return undefined;
    if (findFlags.has(word.value)) continue;
    const value = words[at + 1];
    // An unquoted wildcard becomes the names of files here, and those are words of the expression.
    if (!findValues.has(word.value) || value?.kind !== 'literal') return undefined;
    (findFiles.has(word.value) ? operands : texts).push(value);
    at += 1;
  }
  return { role: 'reads', options: [], operands, texts };
}
