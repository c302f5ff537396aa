import { statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SessionContext } from '@groundcrew/store';
import { readPlainFile } from '@groundcrew/store';

/**
 * Where a directory stands: its repository, remote and branch, read from files without running git.
 * Synchronous: a handful of small local look-ups take less time than one trip to the thread pool.
 */
export function describeDirectory(cwd: string): SessionContext {
  const found = findGit(cwd);
  if (!found) return { cwd };
  const branch = readBranch(found.gitDirectory);
  const repository = readRepository(found.commonDirectory);
  return {
    cwd,
    gitRoot: found.root,
    ...(repository !== undefined && { repository }),
    ...(branch !== undefined && { branch }),
  };
}

interface FoundGit {
  readonly root: string;
  readonly gitDirectory: string;
  readonly commonDirectory: string;
}

/** The repository around a directory. */
export function findGit(start: string): FoundGit | undefined {
  for (let root = start; ; root = dirname(root)) {
    const entry = join(root, '.git');
    const kind = statSync(entry, { throwIfNoEntry: false, bigint: true });
    if (kind?.isDirectory()) return { root, gitDirectory: entry, commonDirectory: entry };
    if (kind?.isFile()) return worktree(root, entry);
    if (dirname(root) === root) return undefined;
  }
}

/** A linked work tree's `.git` is a file that names its own directory; the configuration is in the common one. */
function worktree(root: string, entry: string): FoundGit | undefined {
  const pointer = /^gitdir:\s*(.+)$/m.exec(read(entry))?.[1];
  if (!pointer) return undefined;
  const gitDirectory = resolve(root, pointer.trim());
  const common = read(join(gitDirectory, 'commondir')).trim();
  return { root, gitDirectory, commonDirectory: common ? resolve(gitDirectory, common) : gitDirectory };
}

function readBranch(gitDirectory: string): string | undefined {
  return /^ref:\s*refs\/heads\/(.+)$/m.exec(read(join(gitDirectory, 'HEAD')))?.[1]?.trim();
}

/** Read line by line: the content may be of any length and form. */
function readRepository(commonDirectory: string): string | undefined {
  let isOrigin = false;
  for (const line of read(join(commonDirectory, 'config')).split('\n')) {
    const text = line.trim();
    if (text.startsWith('[')) isOrigin = text === '[remote "origin"]';
    const [name = '', ...value] = text.split('=');
    if (!isOrigin || name.trim() !== 'url') continue;
    return /[/:]([^/:]+\/[^/]+?)(?:\.git)?\/?$/.exec(value.join('=').trim().slice(-longestName))?.[1];
  }
  return undefined;
}

const longestName = 1000;

/** No settings that anyone wrote are longer. */
const longestFile = 256 * 1024;

function read(path: string): string {
  try {
    return readPlainFile(path, longestFile);
  } catch {
    // What cannot be read is not there: a session is no worse for not knowing its branch.
    return '';
  }
}
