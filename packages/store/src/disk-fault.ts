import { StoreError } from './session-store.js';

/** What the file system's own codes mean for who wanted to write; of any other it is not known. */
export const diskKinds: Readonly<Record<string, 'full' | 'read_only'>> = {
  EACCES: 'read_only',
  EDQUOT: 'full',
  ENOSPC: 'full',
  EPERM: 'read_only',
  EROFS: 'read_only',
};

/** The error for a session's directory that could not be made or written; its text says what to do. */
export function diskFault(error: unknown, directory: string): StoreError {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const kind = diskKinds[code] ?? 'io';
  return new StoreError(kind, advice[kind](directory, message), { cause: error });
}

const advice: Record<'full' | 'read_only' | 'io', (directory: string, detail: string) => string> = {
  full: (directory) =>
    `There is no space left for the session's directory ${directory}; nothing was written. Free some space and try again.`,
  read_only: (directory, detail) =>
    `The session's directory ${directory} cannot be written (${detail}). Make it and its parent writable and try again.`,
  io: (directory, detail) =>
    `The session's directory ${directory} cannot be written (${detail}). Check the disk.`,
};
