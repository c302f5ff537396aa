import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { SessionContext } from '../store/session-store.js';

/** Where a directory stands: its repository, remote and branch, read from files without running git. */
export async function describeDirectory(cwd: string): Promise<SessionContext> {
  const found = await findGit(cwd);
  if (!found) return { cwd };
  const [branch, repository] = await Promise.all([
    readBranch(found.gitDirectory),
    readRepository(found.commonDirectory),
  ]);
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

async function findGit(start: string): Promise<FoundGit | undefined> {
  for (let root = start; ; root = dirname(root)) {
    const entry = join(root, '.git');
    const kind = await stat(entry).catch(() => undefined);
    if (kind?.isDirectory()) return { root, gitDirectory: entry, commonDirectory: entry };
    if (kind?.isFile()) return worktree(root, entry);
    if (dirname(root) === root) return undefined;
  }
}

/** A linked work tree's `.git` is a file that names its own directory; the configuration is in the common one. */
async function worktree(root: string, entry: string): Promise<FoundGit | undefined> {
  const pointer = /^gitdir:\s*(.+)$/m.exec(await read(entry))?.[1];
  if (!pointer) return undefined;
  const gitDirectory = resolve(root, pointer.trim());
  const common = (await read(join(gitDirectory, 'commondir'))).trim();
  return { root, gitDirectory, commonDirectory: common ? resolve(gitDirectory, common) : gitDirectory };
}

async function readBranch(gitDirectory: string): Promise<string | undefined> {
  return /^ref:\s*refs\/heads\/(.+)$/m.exec(await read(join(gitDirectory, 'HEAD')))?.[1]?.trim();
}

async function readRepository(commonDirectory: string): Promise<string | undefined> {
  const config = await read(join(commonDirectory, 'config'));
  const url = /\[remote "origin"\][^[]*?^\s*url\s*=\s*(.+)$/ms.exec(config)?.[1]?.split('\n')[0];
  return url && /[/:]([^/:]+\/[^/]+?)(?:\.git)?\/?$/.exec(url.trim())?.[1];
}

function read(path: string): Promise<string> {
  return readFile(path, 'utf8').catch(() => '');
}
