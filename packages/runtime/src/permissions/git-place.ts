import { lstat, readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isWithin } from '../workspace/paths.js';
import { foreignSetting } from './git-settings.js';

/** What git would run besides itself in some places. */
export interface GitPlace {
  /** Why git cannot be taken to only read there; none when it can. */
  readonly doubts: readonly string[];
  /** A command that changes the repository may run hooks. */
  readonly hasHooks: boolean;
}

/**
 * Looks where git would work when it is started in one of these directories. Only the session's own repository, with
 * settings that name no program, is known not to run anything. Files are read anew each time: whoever changed them,
 * and whenever, what they say now counts.
 */
export async function examineGit(starts: readonly string[], workingDirectory: string): Promise<GitPlace> {
  const own = await repositoryOf(workingDirectory);
  const found = await Promise.all([...new Set(starts)].map(repositoryOf));
  if (found.some((each) => each?.root !== own?.root))
    return { doubts: ['git would work in a repository that is not the session’s own'], hasHooks: true };
  if (!own) return { doubts: [], hasHooks: false };
  if (!own.directories) return { doubts: ['the repository is no plain one'], hasHooks: true };
  const settings = await Promise.all(settingsFiles(own.directories, workingDirectory).map(textOf));
  const foreign = settings.map(foreignSetting).find((each) => each !== undefined);
  const hasHooks =
    settings.some((text) => /hookspath/i.test(text ?? '')) || (await hooksIn(own.directories)).length > 0;
  const borrows = await Promise.all(
    own.directories.map((each) => textOf(join(each, 'objects/info/alternates'))),
  );
  const doubts = [
    ...(foreign === undefined ? [] : [`the settings of the repository decide what git runs: ${foreign}`]),
    ...(borrows.some((text) => text !== undefined) ? ['the repository borrows from another one'] : []),
  ];
  return { doubts, hasHooks };
}

interface Repository {
  readonly root: string;
  /** Where its settings and hooks are; absent when they are somewhere unusual. */
  readonly directories?: readonly string[];
}

/** The repository that git finds from a directory upwards. A directory that is a bare one counts too. */
async function repositoryOf(start: string): Promise<Repository | undefined> {
  for (let root = resolve(start); ; root = dirname(root)) {
    const entry = join(root, '.git');
    const kind = await lstat(entry).catch(missing);
    if (kind?.isDirectory()) return { root, directories: [entry] };
    if (kind?.isFile()) return { root, ...(await linked(root, entry)) };
    if (kind || (await looksBare(root))) return { root };
    if (dirname(root) === root) return undefined;
  }
}

/** A linked work tree's `.git` is a file that names its own directory; what all work trees share is in another. */
async function linked(root: string, entry: string): Promise<Pick<Repository, 'directories'>> {
  const pointer = /^gitdir: ([^\n]+)\n?$/.exec((await textOf(entry)) ?? '')?.[1];
  if (pointer === undefined) return {};
  const directory = resolve(root, pointer);
  const common = (await textOf(join(directory, 'commondir')))?.trim();
  return { directories: [directory, ...(common ? [resolve(directory, common)] : [])] };
}

async function looksBare(directory: string): Promise<boolean> {
  const kinds = await Promise.all(
    ['HEAD', 'objects', 'refs'].map((name) => lstat(join(directory, name)).catch(missing)),
  );
  return kinds.every((kind) => kind !== undefined);
}

/** The user's own settings count only where a session could have written them. */
function settingsFiles(directories: readonly string[], workingDirectory: string): readonly string[] {
  const home = homedir();
  const ofUser = isWithin(workingDirectory, home)
    ? [join(home, '.gitconfig'), join(home, '.config/git/config')]
    : [];
  return [...directories.flatMap((each) => [join(each, 'config'), join(each, 'config.worktree')]), ...ofUser];
}

async function hooksIn(directories: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(directories.map((each) => readdir(join(each, 'hooks')).catch(() => [])));
  return names.flat().filter((name) => !name.endsWith('.sample'));
}

async function textOf(path: string): Promise<string | undefined> {
  return readFile(path, 'utf8').catch(missing);
}

/** What is not there says nothing. */
function missing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
  throw error;
}
