import { statSync } from 'node:fs';
import type { SessionContext } from '@groundcrew/store';
import { describeDirectory } from './git.js';

/** The directory a session was to work in is not there. */
export class NoSuchDirectory extends Error {
  override readonly name = 'NoSuchDirectory';
}

/** Throws NoSuchDirectory unless a session could work there. */
export function checkDirectory(path: string): void {
  const isThere = statSync(path, { throwIfNoEntry: false, bigint: true })?.isDirectory();
  if (!isThere) throw new NoSuchDirectory(`Directory does not exist or cannot be accessed: ${path}`);
}

/** Where a session would work in this directory; throws NoSuchDirectory. */
export function directoryContext(path: string): SessionContext {
  checkDirectory(path);
  return describeDirectory(path);
}
