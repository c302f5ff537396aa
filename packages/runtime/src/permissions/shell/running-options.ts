import { subcommandAt } from './command-identity.js';
import type { KnownWord } from './command-word.js';
import { plainName } from './plain-name.js';
import { asOneText, asText, type Wrapped } from './wrapped-commands.js';

/** What a command runs besides itself because of its options or subcommand; undefined when it does not. */
export function runByOptions(name: string, words: readonly KnownWord[]): readonly Wrapped[] | undefined {
  const program = plainName(name);
  const shape = running.get(program);
  const given = shape ? commandsGiven(words, shape) : (special.get(program)?.(words) ?? []);
  if (given.length > 0) return given;
  const redirecting = redirected.get(program);
  return redirecting && words.some((word) => redirecting.test(word.value)) ? [] : undefined;
}

const builder =
  /^\w+[:+?]?=|^-[fCIEb]|^--(?:file|makefile|justfile|rakefile|build-file|directory|eval|init-script)/;
const packageManager = /^-C|^--(?:prefix|dir|cwd|script-shell|node-options)/;

/** Words by which tasks of another place, or other tasks under the same names, are run. */
const redirected = new Map<string, RegExp>([
  ...['make', 'gmake', 'just', 'rake', 'gradle', 'mvn', 'ant'].map((name) => [name, builder] as const),
  ...['npm', 'pnpm', 'yarn', 'bun'].map((name) => [name, packageManager] as const),
  ['cargo', /^--config|^-C/],
]);

/** Options whose value is a command: short letters, and long names. */
interface RunningOptions {
  readonly short: string;
  readonly long: readonly string[];
  /** Options that run nothing, though some long name begins like them. */
  readonly plain?: readonly string[];
}

const running = new Map<string, RunningOptions>([
  ['rsync', { short: 'e', long: ['--rsh', '--rsync-path'] }],
  ['sort', { short: '', long: ['--compress-program'] }],
  ['rg', { short: '', long: ['--pre', '--hostname-bin'] }],
  ['split', { short: '', long: ['--filter'] }],
  ['man', { short: 'PH', long: ['--pager', '--html'] }],
  ['zip', { short: '', long: ['--unzip-command', '-TT'] }],
  ['wget', { short: '', long: ['--use-askpass'] }],
  ['go', { short: '', long: ['-exec', '-toolexec', '-vettool', '--exec', '--toolexec', '--vettool'] }],
]);

const tar: RunningOptions = {
  short: 'IF',
  long: [
    '--to-command',
    '--checkpoint-action',
    '--use-compress-program',
    '--info-script',
    '--new-volume-script',
    '--rsh-command',
    '--rmt-command',
  ],
  plain: ['--checkpoint'],
};

/** Programs with a grammar of their own. */
const special = new Map<string, (words: readonly KnownWord[]) => readonly Wrapped[]>([
  ['git', runByGit],
  ['tar', (words) => [...commandsGiven(words, tar), ...bundledUnknown(words)]],
  ...['ssh', 'scp', 'sftp'].map((name) => [name, runBySecureShell] as const),
  ['printf', (words) => evaluatedName(words, /^-v(.*)$/)],
  ['jobs', runByJobs],
  ...['test', '['].map(
    (name) => [name, (words: readonly KnownWord[]) => evaluatedName(words, /^-[vR]()$/)] as const,
  ),
]);

const unknown: Wrapped = { type: 'unknown' };

/** `jobs -x program` runs it with the numbers of processes in the place of those of jobs. */
function runByJobs(words: readonly KnownWord[]): readonly Wrapped[] {
  const at = words.findIndex(({ value }) => /^-\w*x/.test(value));
  return at < 0 ? [] : [{ type: 'words', words: words.slice(at + 1) }];
}

/** `tar xIf program archive` has options without a dash; only tar knows which value belongs to which. */
function bundledUnknown([first]: readonly KnownWord[]): readonly Wrapped[] {
  return first && /^[a-zA-Z]*[IF]/.test(first.value) ? [unknown] : [];
}

/** `-o ProxyCommand=…` is run on this side; what a file of settings says is not known. */
function runBySecureShell(words: readonly KnownWord[]): readonly Wrapped[] {
  return words.flatMap((word, index) => {
    const isJoined = /^-[oFS]./.test(word.value);
    if (!isJoined && !/^-[oFS]$/.test(word.value)) return [];
    const value = isJoined ? { ...word, value: word.value.slice(2) } : words[index + 1];
    if (!value || word.value.startsWith('-F')) return [unknown];
    if (word.value.startsWith('-S')) return [asText(value)];
    const command = /^\w+command(?:\s*=\s*|\s+)([\s\S]*)$/i.exec(value.value)?.[1];
    return command === undefined ? [] : [asText({ ...value, value: command })];
  });
}

/** A variable may be named with an index, and an index is evaluated: `printf -v 'x[$(…)]'`. A plain name runs nothing. */
function evaluatedName(words: readonly KnownWord[], option: RegExp): readonly Wrapped[] {
  const at = words.findIndex((word) => option.test(word.value));
  if (at < 0) return [];
  const name = option.exec(words[at]?.value ?? '')?.[1] || words[at + 1]?.value;
  return name !== undefined && /^\w+$/.test(name) ? [{ type: 'words', words: [] }] : [unknown];
}

const gitOptions: RunningOptions = {
  short: '',
  long: ['--exec', '--extcmd', '--upload-pack', '--receive-pack'],
};

/** The same for some of its subcommands, by their short names. */
const gitLetters: Readonly<Record<string, string>> = { rebase: 'x', difftool: 'x', clone: 'u' };

/** Options by which git runs what its settings name, or takes settings. */
const gitDrivers = /^--(?:ext-d|textc|filters|config|open-files)/;

function runByGit(words: readonly KnownWord[]): readonly Wrapped[] {
  const at = subcommandAt('git', words);
  const subcommand = words[at]?.value ?? '';
  const rest = words.slice(at + 1);
  const short = Object.hasOwn(gitLetters, subcommand) ? (gitLetters[subcommand] ?? '') : '';
  const drivers = rest.filter(({ value }) => gitDrivers.test(value) || isGitSetting(subcommand, value));
  return [
    ...runBySubcommand(subcommand, rest),
    ...commandsGiven(rest, { ...gitOptions, short }),
    ...drivers.flatMap((word) => pagerOf(word)),
  ];
}

function isGitSetting(subcommand: string, value: string): boolean {
  return (
    (subcommand === 'grep' && /^-[^-]*O/.test(value)) || (subcommand === 'clone' && /^-[^-]*c/.test(value))
  );
}

/** The pager that `git grep` is given to open; of all else git alone knows what it runs. */
function pagerOf(word: KnownWord): readonly Wrapped[] {
  const pager = /^(?:-[^-O]*O|--open-files\S*?=)(.+)$/.exec(word.value)?.[1];
  return pager === undefined ? [unknown] : [asText({ ...word, value: pager })];
}

/** Subcommands whose words are a command, or name what runs one. */
function runBySubcommand(subcommand: string, rest: readonly KnownWord[]): readonly Wrapped[] {
  const [inner, ...words] = rest;
  const call = `${subcommand} ${inner?.value ?? ''}`;
  if (call === 'bisect run' || call === 'submodule foreach') return afterOptions(words);
  if (call === 'hook run' || call === 'maintenance run') return [unknown];
  if (subcommand !== 'filter-branch') return [];
  return rest.filter(({ value }) => !value.startsWith('-')).map(asText);
}

/** The command that stands after the options of what runs it. */
function afterOptions(words: readonly KnownWord[]): readonly Wrapped[] {
  const from = words.findIndex((word) => !word.value.startsWith('-'));
  return from < 0 ? [unknown] : asOneText(words.slice(from));
}

function commandsGiven(words: readonly KnownWord[], shape: RunningOptions): readonly Wrapped[] {
  return words.flatMap((word, index) => {
    const value = valueGiven(word, shape);
    if (value === undefined) return [];
    const text = value === '' ? words[index + 1] : { ...word, value };
    return [text ? asText(text) : unknown];
  });
}

/** What is joined to an option that runs a command; '' when that stands in the next word. Long options may be cut short. */
function valueGiven({ value }: KnownWord, { short, long, plain }: RunningOptions): string | undefined {
  const [given = '', ...rest] = value.split('=');
  if (plain?.includes(given)) return undefined;
  const isLong = given.startsWith('--') && given.length > 3;
  if (long.some((option) => option === given || (isLong && option.startsWith(given))))
    return rest.join('=').replace(/^exec=/, '');
  if (!/^-[^-]/.test(value)) return undefined;
  const at = [...value].findIndex((letter, index) => index > 0 && short.includes(letter));
  return at < 0 ? undefined : value.slice(at + 1);
}
