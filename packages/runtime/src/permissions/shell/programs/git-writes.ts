import type { KnownWord } from '../command-word.js';
import { optionTable, type ParsedCall, parseCall } from '../options.js';
import { cloned, making } from './made-files.js';
import { has, type Program } from './program.js';

/**
 * Sub-commands that change the repository or talk to others, with the options that an approval of their name covers. What
 * takes a command, settings, a template, an editor or another place as a value is not here.
 */
export const gitWrites: ReadonlyMap<string, Program> = new Map([
  writer(
    'add',
    '-nvfuAN --dry-run --verbose --force --update --all --no-all --intent-to-add --refresh --ignore-errors --chmod=',
  ),
  writer(
    'commit',
    '-aqvsn -m: -F: -C: -u? -S? --all --message= --file= --amend --no-edit --no-verify --verify --signoff --no-signoff --author= ' +
      '--date= --allow-empty --allow-empty-message --quiet --verbose --only --include --fixup= --squash= --reuse-message= ' +
      '--reset-author --dry-run --short --branch --porcelain --long --no-status --gpg-sign=? --no-gpg-sign --trailer= --no-post-rewrite',
  ),
  writer(
    'checkout',
    '-qftdlm -b: -B: --quiet --force --track=? --no-track --detach --ours --theirs --orphan= --merge --conflict= --progress --no-progress --guess --no-guess',
  ),
  writer(
    'switch',
    '-qftdm -c: -C: --quiet --force --create= --force-create= --track=? --no-track --detach --discard-changes --orphan= --merge --guess --no-guess',
  ),
  writer(
    'restore',
    '-qSWm -s: --source= --staged --worktree --quiet --ours --theirs --merge --progress --no-progress --ignore-unmerged',
  ),
  writer(
    'branch',
    '-dDmMcCfqvtarl -u: --delete --move --copy --force --quiet --track=? --no-track --set-upstream-to= --unset-upstream --list --all --remotes --show-current --verbose',
  ),
  writer(
    'tag',
    '-adfs -m: -F: --annotate --delete --force --message= --file= --sign --no-sign --create-reflog',
  ),
  writer(
    'merge',
    '-qvn -m: -S? --no-edit --ff --no-ff --ff-only --squash --no-squash --commit --no-commit --abort --continue --quit --stat --no-stat ' +
      '--quiet --verbose --no-verify --allow-unrelated-histories --signoff --autostash --no-autostash --message= --log=? --no-log',
  ),
  writer(
    'rebase',
    // To go on with one is to run what its list says by now.
    '-qvnf --onto= --abort --quit --autostash --no-autostash --autosquash --no-autosquash --quiet --verbose --stat --no-stat ' +
      '--root --keep-empty --no-keep-empty --fork-point --no-fork-point --committer-date-is-author-date --reset-author-date --update-refs',
  ),
  writer(
    'cherry-pick',
    '-nxs -m: -S? --no-commit --mainline= --abort --continue --skip --quit --signoff --ff --allow-empty --keep-redundant-commits',
  ),
  writer(
    'revert',
    '-ns -m: -S? --no-commit --no-edit --mainline= --abort --continue --skip --quit --signoff',
  ),
  writer('reset', '-qN --soft --mixed --hard --merge --keep --quiet --no-quiet --refresh --no-refresh'),
  writer('rm', '-fnrq --force --dry-run --cached --ignore-unmatch --quiet'),
  writer('mv', '-fknv --force --dry-run --verbose'),
  writer('clean', '-dfnqxX -e: --force --dry-run --quiet --exclude='),
  writer('init', '-q -b: --quiet --bare --initial-branch= --object-format='),
  writer(
    'apply',
    '-RNvz -p: -C: --check --stat --numstat --summary --index --cached --3way --reverse --reject --whitespace= --verbose --recount',
  ),
  writer('am', '-3ksq --3way --keep --signoff --abort --continue --skip --quit --quiet --no-verify'),
  // To look for changes it writes the index anew.
  writer('describe', '--all --tags --long --always --abbrev= --dirty=? --match= --exclude= --first-parent'),
  remoteWriter(
    'fetch',
    '-aqvpPftnk -j: -4 -6 --all --append --quiet --verbose --prune --prune-tags --force --tags --no-tags --keep --depth= --deepen= ' +
      '--unshallow --shallow-since= --dry-run --jobs= --progress --multiple --no-recurse-submodules --set-upstream --ipv4 --ipv6',
  ),
  remoteWriter(
    'pull',
    '-qvnpr4 -6 --quiet --verbose --rebase=? --no-rebase --ff --no-ff --ff-only --no-edit --commit --no-commit --squash --autostash --no-autostash ' +
      '--all --prune --tags --no-tags --depth= --stat --no-stat --no-recurse-submodules --set-upstream --allow-unrelated-histories --progress',
  ),
  ['push', push()],
  cloner(
    '-qvnls -b: -j: --quiet --verbose --no-checkout --bare --mirror --depth= --branch= --single-branch --no-single-branch --no-tags --progress --jobs= --local --no-local --filter= --shallow-since=',
  ),
  remoteWriter(
    'ls-remote',
    '-htq --heads --branches --tags --refs --quiet --exit-code --get-url --sort= --symref',
  ),
  inner('stash', {
    '': '-kuaq -m: --keep-index --include-untracked --all --quiet',
    push: '-kuaqS -m: --keep-index --no-keep-index --include-untracked --all --quiet --staged --message=',
    save: '-kuaq --keep-index --include-untracked --all --quiet',
    pop: '-q --index --quiet',
    apply: '-q --index --quiet',
    drop: '-q --quiet',
    clear: '',
    branch: '',
  }),
  inner('remote', {
    add: '-f -t: -m: --tags --no-tags --mirror=?',
    remove: '',
    rm: '',
    rename: '--progress --no-progress',
    'set-url': '--push --add --delete',
    prune: '-n --dry-run',
    'set-head': '-ad --auto --delete',
    show: '-n',
    update: '-p --prune',
  }),
  inner('worktree', {
    add: '-fdbB --force --detach --checkout --no-checkout --lock --track --quiet -q -b: -B:',
    remove: '-f --force',
    prune: '-nv --dry-run --verbose',
    move: '-f --force',
    lock: '--reason=',
    unlock: '',
  }),
  inner('bisect', { start: '--first-parent', good: '', bad: '', skip: '', reset: '', log: '' }),
  inner('submodule', { status: '--cached --recursive', init: '', sync: '--recursive' }),
  inner('notes', { add: '-f -m: -F: --force', show: '', list: '', remove: '', append: '-m: -F:' }),
  inner('reflog', { expire: '--all --dry-run --expire=', delete: '--dry-run' }),
]);

/** To rebase by hand is to run what the list of it says by then. */
function rebasesByHand({ options }: ParsedCall): boolean {
  return options.some(
    ({ name, value = 'true' }) => /^(?:-r|--rebase)$/.test(name) && !/^(?:true|false|merges)$/.test(value),
  );
}

function writer(name: string, options: string): readonly [string, Program] {
  const table = optionTable(options);
  return [name, (words) => writes(words, table)];
}

function writes(words: readonly KnownWord[], table: ReturnType<typeof optionTable>): ReturnType<Program> {
  const call = parseCall(words, table);
  return call && !rebasesByHand(call) ? { role: 'writes', ...call } : undefined;
}

/** `ext::…` is a command, and so may be what another helper is named for. */
function remoteWriter(name: string, options: string): readonly [string, Program] {
  const table = optionTable(options);
  return [
    name,
    (words) => (words.some(({ value }) => value.includes('::')) ? undefined : writes(words, table)),
  ];
}

function cloner(options: string): readonly [string, Program] {
  const [name, clone] = remoteWriter('clone', options);
  return [name, making(cloned, clone)];
}

/** An approval of `git push` is for adding to what is there: to force and to delete is asked about each time. */
function push(): Program {
  const table = optionTable(
    '-uqvnfd46 -o: --set-upstream --quiet --verbose --dry-run --force --force-with-lease=? --force-if-includes --delete --tags --follow-tags ' +
      '--all --branches --mirror --prune --porcelain --progress --no-verify --verify --atomic --push-option= --thin --no-thin --ipv4 --ipv6',
  );
  return (words) => {
    const call = words.some(({ value }) => value.includes('::')) ? undefined : writes(words, table);
    if (!call) return undefined;
    const [, ...refs] = call.operands;
    const isForced =
      has(
        call,
        '-f',
        '--force',
        '--force-with-lease',
        '--force-if-includes',
        '--mirror',
        '--prune',
        '-d',
        '--delete',
      ) || refs.some(({ value }) => /^[+:]|:$/.test(value));
    return isForced ? { ...call, beyondName: 'it forces or deletes what others may have' } : call;
  };
}

function inner(name: string, names: Readonly<Record<string, string>>): readonly [string, Program] {
  const tables = new Map(Object.entries(names).map(([each, options]) => [each, optionTable(options)]));
  return [
    name,
    (words) => {
      const [first] = words;
      if (words.some(({ value }) => value.includes('::'))) return undefined;
      const isNamed = first?.kind === 'literal' && !first.value.startsWith('-');
      const table = tables.get(isNamed ? first.value : '');
      return table && writes(isNamed ? words.slice(1) : words, table);
    },
  ];
}
