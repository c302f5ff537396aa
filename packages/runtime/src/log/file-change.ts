/** What a file held before a tool wrote it: nothing, what a snapshot keeps, or what could not be kept. */
export type FileBefore =
  | { readonly type: 'absent' }
  | { readonly type: 'kept'; readonly digest: string; readonly mode: number }
  | { readonly type: 'lost' };

/** One file as one prompt's turn changed it: from what was there first to what was written last. */
export interface FileChange {
  /** The event of the prompt in whose turn it was written. */
  readonly promptId: string;
  readonly path: string;
  /** Where it is once every link is followed. */
  readonly real: string;
  readonly before: FileBefore;
  /** The digest of what was written; a file with other content was changed by others since. */
  readonly after: string;
  readonly linesAdded: number;
  readonly linesRemoved: number;
}

/** How much tools changed in all. */
export interface CodeChanges {
  readonly linesAdded: number;
  readonly linesRemoved: number;
  readonly files: readonly string[];
}

export const nothingChanged: CodeChanges = { linesAdded: 0, linesRemoved: 0, files: [] };

/** The state keeps the newest ones: it is read whenever the session is opened. */
export const mostChanges = 1000;
const mostFiles = 1000;

/** The changes with one more. */
export function foldFileChange(
  before: { readonly fileChanges: readonly FileChange[]; readonly hasForgottenChanges?: boolean },
  next: FileChange,
): typeof before {
  const fileChanges = withFileChange(before.fileChanges, next);
  // One of a turn that wrote the file before is joined to that, and needs no room.
  const isOver = before.fileChanges.length === mostChanges && fileChanges.at(-1) === next;
  return { fileChanges, ...((isOver || before.hasForgottenChanges) && { hasForgottenChanges: true }) };
}

/** Changes of one turn to one file are one change. */
export function withFileChange(changes: readonly FileChange[], next: FileChange): readonly FileChange[] {
  const at = changes.findLastIndex(({ promptId, real }) => promptId === next.promptId && real === next.real);
  const earlier = changes[at];
  if (!earlier) return [...changes, next].slice(-mostChanges);
  const joined = {
    ...next,
    before: earlier.before,
    linesAdded: earlier.linesAdded + next.linesAdded,
    linesRemoved: earlier.linesRemoved + next.linesRemoved,
  };
  return changes.with(at, joined);
}

/** The totals with one more write. */
export function withWrite(
  totals: CodeChanges,
  { path, linesAdded, linesRemoved }: Pick<FileChange, 'path' | 'linesAdded' | 'linesRemoved'>,
): CodeChanges {
  const isNew = !totals.files.includes(path) && totals.files.length < mostFiles;
  return {
    linesAdded: totals.linesAdded + linesAdded,
    linesRemoved: totals.linesRemoved + linesRemoved,
    files: isNew ? [...totals.files, path] : totals.files,
  };
}
