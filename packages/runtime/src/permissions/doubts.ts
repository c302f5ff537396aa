import { stat } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import type { ReadCommand } from './commands.js';
import { examineGit } from './git-place.js';
import { matchedNames } from './matched-names.js';

/** Where the commands of a text may stand. */
interface Standing {
  /** Every directory that some command may be run in. */
  readonly bases: readonly string[];
  readonly workingDirectory: string;
}

/** Looks for what the text alone cannot tell: the files that wildcards become, directories with links, settings of git. */
export async function doubtsAbout(
  commands: readonly ReadCommand[],
  standing: Standing,
): Promise<{ readonly doubts: readonly string[]; readonly hidesCommands: boolean }> {
  const [wildcards, links, git] = await Promise.all([
    becomesOption(commands, standing),
    meetsLinks(commands, standing),
    gitDoubts(commands, standing),
  ]);
  return {
    doubts: [
      ...(wildcards ? ['a wildcard may become an option'] : []),
      ...(links ? ['it would read whatever links in a directory lead to'] : []),
      ...git.doubts,
    ],
    hidesCommands: wildcards || git.runsMore,
  };
}

/** A file may be named like an option: `tar -cf x *`. */
async function becomesOption(commands: readonly ReadCommand[], { bases }: Standing): Promise<boolean> {
  const open = commands
    .flatMap(({ wild = [] }) => wild)
    .filter((word) => /^[*?[]/.test(word) && !word.includes('/'));
  const found = await Promise.all(
    [...new Set(open)].flatMap((word) => bases.map((base) => matchedNames(resolve(base, word)))),
  );
  return found.some((names) => names === undefined || names.some((name) => basename(name).startsWith('-')));
}

async function meetsLinks(commands: readonly ReadCommand[], { bases }: Standing): Promise<boolean> {
  const places = commands
    .flatMap(({ call }) => (call?.followsLinksInside ? call.operands : []))
    .flatMap(({ value }) => bases.map((base) => resolve(base, value)));
  const kinds = await Promise.all(places.map(isDirectory));
  return kinds.includes(true);
}

/** What cannot be looked at is taken for one. */
async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

async function gitDoubts(
  commands: readonly ReadCommand[],
  { bases, workingDirectory }: Standing,
): Promise<{ readonly doubts: readonly string[]; readonly runsMore: boolean }> {
  const calls = commands.flatMap(({ call }) => (call?.git ? [{ role: call.role, git: call.git }] : []));
  if (calls.length === 0) return { doubts: [], runsMore: false };
  const starts = calls.flatMap(({ git }) => bases.map((base) => resolve(base, ...git.directories)));
  const { doubts, hasHooks } = await examineGit(starts, workingDirectory);
  const changes = calls.some(({ role }) => role !== 'reads');
  return {
    doubts: calls.some(({ role }) => role === 'reads') ? doubts : [],
    runsMore: doubts.length > 0 || (changes && hasHooks),
  };
}
