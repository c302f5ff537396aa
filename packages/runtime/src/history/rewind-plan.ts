import { type FileChange, mostChanges } from '../log/file-change.js';
import type { SessionState } from '../log/state.js';
import { changeDiff, creationDiff } from '../tools/diff.js';
import { linesOfDiff } from '../tools/file-write.js';
import { digestOf, type FileSnapshots } from '../workspace/file-snapshots.js';
import { type FileNow, type FileWanted, readNow } from '../workspace/restored-file.js';
import { CannotRewind } from './rewind-points.js';

/** One file that a rewind would put back, and what is there now. */
export interface PlannedFile {
  readonly path: string;
  readonly real: string;
  readonly now: FileNow;
  /** Undefined when what the file held was not kept. */
  readonly wanted: FileWanted | undefined;
  /** What the turns that are cut off did to it. */
  readonly changeType: 'created' | 'deleted' | 'modified';
  /** Others changed it since a tool wrote it last. */
  readonly isChangedSince: boolean;
  /** It is already as it was. */
  readonly isDone: boolean;
}

/** A file that a rewind would put back. */
export interface RewindFile {
  readonly path: string;
  readonly changeType: 'created' | 'deleted' | 'modified';
  readonly linesAdded: number;
  readonly linesRemoved: number;
  /** Others changed it since: it is left as it is unless the rewind is forced. */
  readonly changedSince?: true;
}

/** Which files have to be restored to be as they were before a prompt; `before` is the state at that time. Throws CannotRewind. */
export async function planRewind(
  { now, before }: { readonly now: SessionState; readonly before: SessionState },
  snapshots: FileSnapshots,
): Promise<readonly PlannedFile[]> {
  const earlier = new Set([before.promptId, ...before.fileChanges.map(({ promptId }) => promptId)]);
  const [oldest] = now.fileChanges;
  if (now.hasForgottenChanges && oldest && !earlier.has(oldest.promptId))
    throw new CannotRewind(
      `Files cannot be put back to before this prompt, because only the last ${mostChanges} changes of files are kept: take back the conversation alone, or choose a later prompt`,
    );
  const byPlace = new Map<string, { first: FileChange; last: FileChange }>();
  for (const change of now.fileChanges) {
    if (earlier.has(change.promptId)) continue;
    const known = byPlace.get(change.real);
    byPlace.set(change.real, { first: known?.first ?? change, last: change });
  }
  return Promise.all([...byPlace.values()].map((each) => planFile(each, snapshots)));
}

async function planFile(
  { first, last }: { readonly first: FileChange; readonly last: FileChange },
  snapshots: FileSnapshots,
): Promise<PlannedFile> {
  const { path, real, before } = first;
  const now = await readNow(real);
  const held =
    before.type === 'kept' ? await snapshots.read(before.digest).catch(() => undefined) : undefined;
  const wanted = wantedOf(before, held);
  const isDone = wanted !== undefined && isSame(now, wanted);
  return {
    path,
    real,
    now,
    wanted,
    changeType: before.type === 'absent' ? 'created' : changeOf(now),
    isChangedSince: !isDone && !(now.type === 'file' && digestOf(now.content) === last.after),
    isDone,
  };
}

function changeOf(now: FileNow): 'deleted' | 'modified' {
  return now.type === 'absent' ? 'deleted' : 'modified';
}

function wantedOf(before: FileChange['before'], held: Buffer | undefined): FileWanted | undefined {
  if (before.type === 'absent') return { type: 'absent' };
  if (before.type !== 'kept' || !held) return undefined;
  return { type: 'file', content: held, mode: before.mode };
}

function isSame(now: FileNow, wanted: FileWanted): boolean {
  if (now.type === 'file' && wanted.type === 'file') return now.content.equals(wanted.content);
  return now.type === wanted.type;
}

/** What users are shown of it. */
export function describePlanned(planned: readonly PlannedFile[]): Promise<readonly RewindFile[]> {
  return Promise.all(
    planned.map(async (file) => ({
      path: file.path,
      changeType: file.changeType,
      ...(await linesSince(file)),
      ...(file.isChangedSince && { changedSince: true as const }),
    })),
  );
}

/** Lines that the file has gained and lost since, as it is now. */
async function linesSince({ path, now, wanted }: PlannedFile) {
  const before = wanted?.type === 'file' ? wanted.content : Buffer.alloc(0);
  const after = now.type === 'file' ? now.content : Buffer.alloc(0);
  if (!wanted || before.equals(after)) return { linesAdded: 0, linesRemoved: 0 };
  const isNew = wanted.type === 'absent';
  return linesOfDiff(
    isNew ? creationDiff(path, after.toString()) : await changeDiff({ path, before, after }),
  );
}
