import type { KnownWord } from '../command-word.js';
import { type OptionTable, optionTable, type ParsedCall, parseCall } from '../options.js';
import { has, type Program } from './program.js';

const diffs =
  '-pusRabwWz -U: -M? -C? -B? -D -l: -S: -G: -O: -I: --unified= --raw --patch-with-raw --patch-with-stat --stat=? --numstat ' +
  '--shortstat --dirstat=? --summary --patch --no-patch --name-only --name-status --color=? --no-color --word-diff=? ' +
  '--word-diff-regex= --color-words=? --color-moved=? --no-color-moved --minimal --patience --histogram ' +
  '--diff-algorithm= --no-renames --find-renames=? --find-copies=? --find-copies-harder --diff-filter= --pickaxe-all ' +
  '--pickaxe-regex --relative=? --no-relative --text --ignore-cr-at-eol --ignore-space-at-eol --ignore-space-change ' +
  '--ignore-all-space --ignore-blank-lines --inter-hunk-context= --function-context --exit-code --quiet --no-ext-diff ' +
  '--no-textconv --ignore-submodules=? --src-prefix= --dst-prefix= --no-prefix --full-index --binary --abbrev=? ' +
  '--no-abbrev --check --compact-summary --ita-invisible-in-index --rename-empty --no-indent-heuristic --output-indicator-new=';
const commits =
  '-cgmitEFP -n: -L: -# --oneline --graph --no-graph --decorate=? --no-decorate --decorate-refs= --all --branches=? --tags=? ' +
  '--remotes=? --max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --all-match ' +
  '--invert-grep --regexp-ignore-case --extended-regexp --fixed-strings --perl-regexp --merges --no-merges --min-parents= ' +
  '--max-parents= --first-parent --follow --reverse --date-order --author-date-order --topo-order --date= --format= ' +
  '--pretty=? --abbrev-commit --no-abbrev-commit --full-history --simplify-merges --simplify-by-decoration ' +
  '--ancestry-path=? --left-right --left-only --right-only --cherry-pick --cherry-mark --cherry --walk-reflogs --source ' +
  '--boundary --notes=? --no-notes --use-mailmap --mailmap --no-mailmap --relative-date --parents --children --not ' +
  '--exclude= --glob= --log-size --no-walk=? --do-walk --cc --expand-tabs=? --no-expand-tabs --encoding= --show-pulls ' +
  '--full-diff --clear-decorations --diff-merges= --remove-empty --dense --sparse --objects --count --timestamp';
const listing =
  '--sort= --format= --points-at= --contains=? --no-contains=? --merged=? --no-merged=? --ignore-case --color=? --no-color ' +
  '--column=? --no-column --omit-empty';
const grep =
  '-aIihHovwlLzcnpWqEFGPrt -A: -B: -C: -e: -f: -m: -# --text --ignore-case --word-regexp --invert-match --full-name ' +
  '--extended-regexp --basic-regexp --perl-regexp --fixed-strings --line-number --column --files-with-matches --name-only ' +
  '--files-without-match --null --only-matching --count --color=? --no-color --break --heading --show-function ' +
  '--context= --after-context= --before-context= --function-context --max-depth= --max-count= --threads= --cached ' +
  '--untracked --no-exclude-standard --exclude-standard --all-match --and --or --not --quiet --recursive --no-recursive';

/** Sub-commands that change nothing. What follows drivers, pagers, signatures or other machines is not here. */
export const gitReads: ReadonlyMap<string, Program> = new Map([
  reader(
    'status',
    '-sbzv -u? --short --branch --porcelain=? --long --untracked-files=? --ignored=? --ignore-submodules=? --column=? ' +
      '--no-column --ahead-behind --no-ahead-behind --renames --no-renames --find-renames=? --show-stash --verbose',
  ),
  reader('log', commits, diffs),
  reader('whatchanged', commits, diffs),
  reader('show', commits, diffs),
  reader('diff', diffs, '--cached --staged --merge-base --no-index -0123'),
  reader('diff-tree', diffs, '-rtcmv --cc --root --no-commit-id --pretty=? --format= --always --merge-base'),
  reader('diff-index', diffs, '-m --cached --merge-base'),
  reader('diff-files', diffs, '-cq0123 --cc --base --ours --theirs'),
  reader('rev-list', commits, '--header --disk-usage=? --quiet --no-object-names --filter= --missing='),
  reader(
    'rev-parse',
    '-q --verify --quiet --short=? --abbrev-ref=? --symbolic --symbolic-full-name --all --branches=? --tags=? --remotes=? ' +
      '--show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir --git-common-dir --is-inside-work-tree ' +
      '--is-inside-git-dir --is-bare-repository --is-shallow-repository --show-superproject-working-tree --not --sq ' +
      '--revs-only --no-revs --flags --no-flags --since= --until= --git-path= --path-format= --show-object-format=? --default=',
  ),
  reader(
    'ls-files',
    '-cdoimsukztvf -x: -X: --cached --deleted --others --ignored --modified --stage --unmerged --killed --directory ' +
      '--no-empty-directory --eol --exclude= --exclude-from= --exclude-standard --error-unmatch --full-name --abbrev=? ' +
      '--format= --deduplicate --sparse --debug',
  ),
  reader(
    'ls-tree',
    '-drtlz --name-only --name-status --long --full-name --full-tree --abbrev=? --format= --object-only',
  ),
  reader(
    'cat-file',
    '-ptse --batch=? --batch-check=? --batch-all-objects --buffer --unordered --allow-unknown-type',
  ),
  ...['blame', 'annotate'].map((name) =>
    reader(
      name,
      '-bltsefnpwc -L: -M? -C? --root --show-stats --incremental --porcelain --line-porcelain --date= --score-debug ' +
        '--show-name --show-number --show-email --color-lines --color-by-age --ignore-rev= --abbrev= --since= --reverse ' +
        '--first-parent --progress --no-progress --minimal',
    ),
  ),
  reader(
    'describe',
    '--all --tags --long --always --abbrev= --contains --match= --exclude= --exact-match --first-parent --candidates=',
  ),
  reader('shortlog', commits, '-nsec -w? --numbered --summary --email --group='),
  reader('name-rev', '--tags --refs= --exclude= --all --name-only --no-undefined --always'),
  reader('merge-base', '-a --all --octopus --independent --is-ancestor --fork-point'),
  reader('for-each-ref', listing, '--count= --exclude= --shell --perl --python --tcl --include-root-refs'),
  reader(
    'show-ref',
    '-dsq --heads --branches --tags --head --dereference --hash=? --verify --abbrev=? --quiet --exists',
  ),
  reader('count-objects', '-vH --verbose --human-readable'),
  reader('check-ignore', '-qvnz --quiet --verbose --non-matching --no-index --stdin'),
  reader('check-attr', '-az --all --cached'),
  reader('grep', grep),
  reader('version', '--build-options'),
  reader('var', ''),
  ['branch', listOf('-arvl --all --remotes --list --show-current --verbose --no-abbrev --abbrev=?')],
  ['tag', listOf('-l -n? --list')],
  ['remote', remote()],
  [
    'stash',
    nested({ list: table(commits, diffs), show: table(diffs, '--include-untracked --only-untracked') }),
  ],
  ['reflog', reflog()],
  ['worktree', nested({ list: table('-vz --porcelain --verbose') })],
  ['config', config],
]);

function table(...specs: readonly string[]): OptionTable {
  return optionTable(...specs);
}

function reader(name: string, ...specs: readonly string[]): readonly [string, Program] {
  const options = table(...specs);
  return [name, (words) => understood(parseCall(words, options))];
}

function understood(call: ParsedCall | undefined): ReturnType<Program> {
  return call && !verifiesSignatures(call) && !mergesAgain(call) ? { role: 'reads', ...call } : undefined;
}

/** To show what a merge was resolved to, git merges once more: it runs the drivers that files of the repository choose. */
function mergesAgain({ options }: ParsedCall): boolean {
  return options.some(({ name, value = '' }) => name === '--diff-merges' && /^r/i.test(value));
}

/** These formats, whichever option takes them, run the program that checks signatures; so does an order by them. */
function verifiesSignatures({ options }: ParsedCall): boolean {
  return options.some(
    ({ name, value = '' }) =>
      /%[-+ ]?G|%\(\*?signature/i.test(value) || (name === '--sort' && /signature/i.test(value)),
  );
}

/** Without an operand it lists; with one only when an option says so, or it is asked about a commit. */
function listOf(options: string): Program {
  const all = table(options, listing);
  return (words) => {
    const call = parseCall(words, all);
    if (!call) return undefined;
    const isList = has(
      call,
      '--list',
      '-l',
      '--contains',
      '--no-contains',
      '--merged',
      '--no-merged',
      '--points-at',
    );
    return call.operands.length === 0 || isList ? understood(call) : undefined;
  };
}

/** `remote show` asks the other machine unless it has `-n`. */
function remote(): Program {
  const options = table('-vn --verbose --all --push');
  return (words) => {
    const call = parseCall(words, options);
    const [inner, name, ...more] = call?.operands.map(({ value }) => value) ?? [];
    if (!call || more.length > 0) return undefined;
    if (inner === undefined) return has(call, '-n', '--all', '--push') ? undefined : understood(call);
    const isLocal = inner === 'get-url' || (inner === 'show' && (name === undefined || has(call, '-n')));
    return isLocal ? understood(call) : undefined;
  };
}

function nested(names: Readonly<Record<string, OptionTable>>): Program {
  return ([inner, ...rest]) => {
    const options = inner && Object.hasOwn(names, inner.value) ? names[inner.value] : undefined;
    return options && understood(parseCall(rest, options));
  };
}

/** Its first word may be a ref; `expire` and `delete` change what it shows. */
function reflog(): Program {
  const options = table(commits, diffs);
  return (words) => {
    const [first] = words;
    if (first && /^(?:expire|delete|drop|write)$/.test(first.value)) return undefined;
    return understood(parseCall(first?.value === 'show' ? words.slice(1) : words, options));
  };
}

/**
 * One setting by its name, or all of the repository's own. A list of all there are shows those of the user too, which are
 * in another place and may hold a token (`http.extraHeader`, `url.….insteadOf`).
 */
const configForms = [
  /^(?:(?:--global|--local|--system|--show-origin|--show-scope|-z) )*(?:--get|--get-all|get) (?!(?:http|url|credential|sendemail|imap)\.)[A-Za-z][\w-]*\.[\w.-]+$/i,
  /^(?:(?:--show-origin|--show-scope|--name-only|-z) )*--local (?:(?:--show-origin|--show-scope|--name-only|-z) )*(?:--list|-l|list|--get-regexp [\w.*^$-]+)$/,
  /^(?!(?:http|url|credential|sendemail|imap)\.)[A-Za-z][\w-]*\.[\w.-]+$/i,
];

/** Changes nothing, and is asked about once. */
const allSettings =
  /^(?:(?:--global|--system|--show-origin|--show-scope|--name-only|-z) )*(?:--list|-l|list)$/;

function config(words: readonly KnownWord[]): ReturnType<Program> {
  const isLiteral = words.every(({ kind }) => kind === 'literal');
  const text = words.map(({ value }) => value).join(' ');
  if (isLiteral && configForms.some((form) => form.test(text)))
    return { role: 'reads', options: [], operands: [] };
  return isLiteral && allSettings.test(text) ? { role: 'writes', options: [], operands: [] } : undefined;
}
