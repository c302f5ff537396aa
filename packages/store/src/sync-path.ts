import { closeSync, fsyncSync, openSync } from 'node:fs';

/** Waits until a file, or the names in a directory, are on the disk. */
export function syncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
