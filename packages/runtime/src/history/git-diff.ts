import { execFile } from 'node:child_process';
import { lstat, open, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { examineGit } from '../permissions/git-place.js';
import { hardenedEnvironment } from '../tools/shell/hardened-environment.js';
import { findGit } from '../workspace/git.js';

/** One file that differs from what it is compared with. */
export interface ChangedFile {
  readonly path: string;
  readonly diff: string;
  readonly changeType: 'added' | 'modified' | 'deleted' | 'renamed';
  readonly oldPath?: string;
  /** There is more of the diff than is shown. */
  readonly isTruncated?: true;
}

/** The repository's own settings could make git run something. */
class ForeignSettings extends Error {
  override readonly name = 'ForeignSettings';
}

/** How the working tree of a repository differs from a commit. */
export interface TreeDiff {
  readonly changes: readonly ChangedFile[];
  /** The branch that was compared with, or would have been. */
  readonly baseBranch?: string;
  /** There is no such branch to compare with. */
  readonly isFallback: boolean;
}

const longestDiff = 256 * 1024;
const mostUntracked = 1000;
const limits = { maxBuffer: 32 * 1024 * 1024, timeout: 20_000, killSignal: 'SIGKILL' as const };
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Compares the working tree with the newest commit, or with where its branch left another one. Throws ForeignSettings. */
export async function diffTree(
  workingDirectory: string,
  how: { readonly fromBranch: boolean; readonly ignoresSpace: boolean },
  signal: AbortSignal,
): Promise<TreeDiff> {
  const found = findGit(workingDirectory);
  const fallback = how.fromBranch ? { baseBranch: 'main', isFallback: true } : { isFallback: false };
  if (!found) return { changes: [], ...fallback };
  const { risks, nestedRisks } = await examineGit([workingDirectory], workingDirectory);
  const [risk] = [...risks, ...nestedRisks];
  if (risk !== undefined) throw new ForeignSettings(`Git could run programs: ${risk}. No diff is made`);
  const git = new Git(found.root, signal);
  const base = how.fromBranch ? await git.branchPoint() : undefined;
  const commit = base?.commit ?? ((await git.has('HEAD')) ? 'HEAD' : emptyTree);
  const changes = [...(await git.changes(commit, how.ignoresSpace)), ...(await git.untracked())];
  const ordered = changes.sort((one, other) => (one.path < other.path ? -1 : 1));
  if (!how.fromBranch) return { changes: ordered, isFallback: false };
  return { changes: ordered, ...(base ? { baseBranch: base.name, isFallback: false } : fallback) };
}

/** Git in one working tree, set to run nothing of the repository's. */
class Git {
  constructor(
    private readonly root: string,
    private readonly signal: AbortSignal,
  ) {}

  async has(commit: string): Promise<boolean> {
    return this.run(['rev-parse', '--verify', '--quiet', `${commit}^{commit}`]).then(
      () => true,
      () => false,
    );
  }

  /** Where this branch left the main one; undefined when there is none, or this is it. */
  async branchPoint(): Promise<{ readonly name: string; readonly commit: string } | undefined> {
    const current = await this.run(['symbolic-ref', '--short', '-q', 'HEAD']).catch(() => '');
    for (const name of ['main', 'master']) {
      if (current.trim() === name) return undefined;
      for (const ref of [`refs/remotes/origin/${name}`, `refs/heads/${name}`]) {
        const commit = await this.run(['merge-base', ref, 'HEAD']).catch(() => '');
        if (commit.trim() !== '') return { name, commit: commit.trim() };
      }
    }
    return undefined;
  }

  async changes(commit: string, ignoresSpace: boolean): Promise<readonly ChangedFile[]> {
    const common = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '-M'];
    const space = ignoresSpace ? ['-w'] : [];
    const [names, patch] = await Promise.all([
      this.run([...common, '--name-status', '-z', commit, '--']),
      this.run([...common, ...space, '--src-prefix=a/', '--dst-prefix=b/', commit, '--']),
    ]);
    const patches = new Map(patch.split(/^(?=diff --git )/m).map((part) => [headerOf(part), part]));
    return statusesOf(names).map(({ status, path, oldPath = path }) => {
      const diff = patches.get(`diff --git a/${oldPath} b/${path}`) ?? '';
      return {
        path,
        ...bounded(diff.replace(/\n$/, '')),
        ...kindOf(status),
        ...(status === 'R' && { oldPath }),
      };
    });
  }

  async untracked(): Promise<readonly ChangedFile[]> {
    const names = await this.run(['ls-files', '--others', '--exclude-standard', '-z']);
    const paths = names.split('\0').filter((name) => name !== '');
    return Promise.all(
      paths.slice(0, mostUntracked).map(async (path) => ({
        path,
        ...bounded(await newFileDiff(this.root, path)),
        changeType: 'added' as const,
      })),
    );
  }

  private async run(parameters: readonly string[]): Promise<string> {
    const { PATH = '', HOME = '' } = process.env;
    const env = hardenedEnvironment({ PATH, HOME, LANG: 'C.UTF-8' }, this.root);
    const run = promisify(execFile);
    const { signal } = this;
    const options = { ...limits, cwd: this.root, env, signal, encoding: 'utf8' as const };
    return (await run('git', ['-c', 'core.quotePath=false', ...parameters], options)).stdout;
  }
}

function headerOf(patch: string): string {
  return patch.slice(0, Math.max(0, patch.indexOf('\n')));
}

interface Status {
  readonly status: string;
  readonly path: string;
  readonly oldPath?: string;
}

/** `M\0path\0` and `R100\0old\0new\0`. */
function statusesOf(names: string): readonly Status[] {
  const words = names.split('\0');
  const found: Status[] = [];
  for (let at = 0; at + 1 < words.length; ) {
    const status = (words[at] ?? '').slice(0, 1);
    const [first = '', second = ''] = words.slice(at + 1, at + 3);
    const isMoved = status === 'R' || status === 'C';
    found.push(isMoved ? { status, path: second, oldPath: first } : { status, path: first });
    at += isMoved ? 3 : 2;
  }
  return found;
}

function kindOf(status: string): Pick<ChangedFile, 'changeType'> {
  const kinds: Readonly<Record<string, ChangedFile['changeType']>> = {
    A: 'added',
    C: 'added',
    D: 'deleted',
    R: 'renamed',
  };
  return { changeType: kinds[status] ?? 'modified' };
}

function bounded(diff: string): Pick<ChangedFile, 'diff' | 'isTruncated'> {
  return diff.length <= longestDiff ? { diff } : { diff: diff.slice(0, longestDiff), isTruncated: true };
}

/** Reads no further than it has to: a file may be larger than memory. */
async function beginningOf(path: string, length: number): Promise<Buffer> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A file that git does not know, every line of it added; a link is shown by where it leads. */
async function newFileDiff(root: string, path: string): Promise<string> {
  const place = join(root, path);
  const stats = await lstat(place).catch(() => undefined);
  const head = [`diff --git a/${path} b/${path}`, 'new file mode 100644'];
  if (!stats || (!stats.isFile() && !stats.isSymbolicLink())) return head.join('\n');
  const content = stats.isSymbolicLink()
    ? Buffer.from(await readlink(place))
    : await beginningOf(place, longestDiff + 1);
  if (content.includes(0)) return [...head, `Binary files /dev/null and b/${path} differ`].join('\n');
  const text = content.toString();
  const lines = text === '' ? [] : text.replace(/\n$/, '').split('\n');
  const hunk = `@@ -0,0 +1,${lines.length} @@`;
  const body = lines.map((line) => `+${line}`);
  return [...head, '--- /dev/null', `+++ b/${path}`, hunk, ...body].join('\n');
}
