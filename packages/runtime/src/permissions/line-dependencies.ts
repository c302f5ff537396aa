import { basename } from 'node:path';
import { isWithin } from '../workspace/paths.js';
import type { ReadCommand } from './command-rules.js';
import { has } from './shell/programs/program.js';
import { isInert, isInertReader } from './shell/programs/table.js';
import { steersPrograms } from './steering-files.js';

/** The commands of one line, and what is known of the files they name. */
export interface Line {
  readonly commands: readonly ReadCommand[];
  readonly paths: readonly TouchedPath[];
  /** Files that redirections write, as the line says them. */
  readonly writtenFiles: readonly string[];
  /** Each command ends before the next one begins. */
  readonly isOrdered: boolean;
  readonly workingDirectory: string;
}

/** What of a line goes by files that another part of it may have changed by then. */
export interface LineDependencies {
  /** It is looked up before the line runs, so what is covered alone is not covered here. */
  readonly isInterdependent: boolean;
  /** Commands may run that the text does not say. */
  readonly hidesCommands: boolean;
}

/**
 * Looks for parts of a line that rest on what other parts write. Settings, links and wildcards are looked up before anything
 * runs: `cp c .git/config && git status` is not what `git status` was when it was looked at.
 */
export function findLineDependencies(
  line: Line,
  { hasForeignBelow }: { readonly hasForeignBelow: boolean },
): LineDependencies {
  const { commands } = line;
  const changes = commands
    .map((command) => changeOf(command, line))
    .map((change) => (change === 'index' && !hasForeignBelow ? 'nothing' : change));
  const redirected: Change = line.writtenFiles.every((file) => isPlainTarget(file, line))
    ? 'nothing'
    : 'anything';
  const before = (index: number): Change =>
    changes
      .filter((_, other) => other !== index && (other < index || !line.isOrdered))
      .reduce((most, each) => (levels[each] > levels[most] ? each : most), redirected);
  return {
    isInterdependent: commands.some((command, index) => restsOn(command, before(index))),
    hidesCommands: commands.some((command, index) => runsBy(command, before(index))),
  };
}

/** Whether a line changes which repositories git knows of, and has git ask them for changes too; also ignored ones? */
export function addedAndAsked({ commands }: Line): { readonly withIgnored: boolean } | undefined {
  const calls = commands.flatMap(({ call }) => (call?.git ? [{ call, name: call.git.subcommand }] : []));
  const adding = calls.filter(({ name }) => gitChanges.get(name) === 'index');
  if (adding.length === 0 || !calls.some(({ name }) => looksForChanges.has(name))) return undefined;
  return { withIgnored: adding.some(({ call }) => has(call, '-f', '--force')) };
}

/** How much of what others go by a command may change. */
type Change =
  /** Nothing but plain files of plain names. */
  | 'nothing'
  /** Which files git knows, and which repositories in this one. */
  | 'index'
  /** Any file of a work tree, links too, but no settings of git. */
  | 'files'
  | 'anything';

const levels: Readonly<Record<Change, number>> = { nothing: 0, index: 1, files: 2, anything: 3 };

function changeOf(command: ReadCommand, line: Line): Change {
  const { call, words } = command;
  const [name = ''] = words;
  // What runs code of the project, or is not known at all, is approved for whatever that does.
  if (!call) return isInert(name) && !isInertReader(name) ? 'anything' : 'nothing';
  if (call.role !== 'writes') return 'nothing';
  if (call.git) return gitChanges.get(call.git.subcommand) ?? 'anything';
  const program = basename(name);
  if (signals.has(program)) return 'nothing';
  const isTree = program === 'cp' && call.options.some(({ name: option }) => copiesTrees.has(option));
  const isNamed = namedWriters.has(program) && !isTree;
  return isNamed && call.operands.every(({ value }) => isPlainTarget(value, line)) ? 'nothing' : 'anything';
}

const gitChanges: ReadonlyMap<string, Change> = new Map([
  ...'commit tag branch fetch push notes describe reflog ls-remote bisect'
    .split(' ')
    .map((name) => [name, 'nothing'] as const),
  ...'add rm mv'.split(' ').map((name) => [name, 'index'] as const),
  ...'checkout switch restore merge rebase cherry-pick revert reset clean apply am pull stash'
    .split(' ')
    .map((name) => [name, 'files'] as const),
]);

const signals: ReadonlySet<string> = new Set(['kill', 'pkill', 'killall']);
/** They change the files they name, and no others. */
const namedWriters: ReadonlySet<string> = new Set(
  'rm rmdir mkdir touch tee truncate chmod chown chgrp cp'.split(' '),
);
const copiesTrees: ReadonlySet<string> = new Set(
  '-a -r -R -t --archive --recursive --target-directory --parents'.split(' '),
);

/** A file that no program is steered by, whose name is no option, and that is no directory around the session's own. */
function isPlainTarget(written: string, { paths, workingDirectory }: Line): boolean {
  const names = paths.find((path) => path.written === written)?.names ?? [];
  return (
    names.length > 0 &&
    names.every(
      (name) => !basename(name).startsWith('-') && !steersPrograms(name) && !isWithin(name, workingDirectory),
    )
  );
}

/** Whether what was looked up for a command may no longer be so. */
function restsOn({ call, wild = [], words }: ReadCommand, change: Change): boolean {
  if (change === 'nothing') return false;
  if (call?.git) return runsBy({ call, words }, change);
  if (change === 'index') return false;
  if (call?.role === 'runs' || wild.length > 0) return true;
  return words.length > 1 && !takesText.has(words[0] ?? '');
}

/** They open none of the files that their words may name. */
const takesText: ReadonlySet<string> = new Set(['echo', 'printf', 'true', 'false', ':', 'sleep', 'exit']);

/** Git asks nested repositories whether they are clean, and runs what settings and hooks say; others have start files. */
function runsBy({ call, words: [name = ''] }: Pick<ReadCommand, 'call' | 'words'>, change: Change): boolean {
  if (change === 'anything' && (call?.git || hasStartFiles.has(basename(name)))) return true;
  if (!call?.git) return false;
  return change !== 'nothing' && call.role === 'reads' && looksForChanges.has(call.git.subcommand);
}

/** Their own files in the home may name a program to run. */
const hasStartFiles: ReadonlySet<string> = new Set(['scp', 'sftp', 'rsync', 'wget', 'curl', 'ssh']);

/** Sub-commands that only read, and ask nested repositories too. */
export const looksForChanges: ReadonlySet<string> = new Set('status diff diff-files diff-index'.split(' '));

/** A path that a call would touch. */
export interface TouchedPath {
  /** As the request says it. */
  readonly written: string;
  /** Whole, as named and with every link followed; none where only a run would show. */
  readonly names: readonly string[];
}
