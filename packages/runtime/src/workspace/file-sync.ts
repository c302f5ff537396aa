import type { HostedFiles } from './hosted-files.js';

/** Keeps a session's files the same as those that a client stores; paths are those on this disk. */
export interface FileSync {
  /** Brings a file or directory to this disk as it is stored now; what is stored nowhere is removed here. */
  pull(path: string): Promise<void>;
  /** Makes the stored files equal to those on this disk, deletions included. */
  push(path: string): Promise<void>;
  /** The path by which clients and models know a file. */
  shown(path: string): string;
  /** The session's tables, where a client keeps them. */
  readonly tables?: HostedFiles | undefined;
  /** Where a file is on this disk that clients and models know by this path; undefined when it is no such file. */
  local(path: string): string | undefined;
}

/** Of sessions whose files are on this disk only. */
export const unsynced: FileSync = {
  pull: async () => undefined,
  push: async () => undefined,
  shown: (path) => path,
  local: () => undefined,
};
