/** A file that a tool is about to write. */
export interface FileWrite {
  readonly path: string;
  /** Where it is once every link is followed. */
  readonly real: string;
  /** What it holds now; undefined when it is not there. */
  readonly before?: { readonly content: Buffer; readonly mode: number };
  readonly after: Buffer;
  /** What changes, as users are shown it. */
  readonly diff: string;
}

/** Writes a file by `work`, and remembers what was there before. */
export type RecordWrite = <T>(write: FileWrite, work: () => Promise<T>) => Promise<T>;

/** Writes a file by `work`; the session learns of it first, so that it can be taken back. */
export function writeRecorded<T>(
  context: { readonly recordWrite?: RecordWrite },
  write: FileWrite,
  work: () => Promise<T>,
): Promise<T> {
  return context.recordWrite ? context.recordWrite(write, work) : work();
}

/** Lines that a diff adds and removes. */
export function linesOfDiff(diff: string): { readonly linesAdded: number; readonly linesRemoved: number } {
  const lines = diff.slice(Math.max(0, diff.indexOf('\n@@'))).split('\n');
  return {
    linesAdded: lines.filter((line) => line.startsWith('+')).length,
    linesRemoved: lines.filter((line) => line.startsWith('-')).length,
  };
}
