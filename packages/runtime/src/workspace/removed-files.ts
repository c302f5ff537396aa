import { mkdirSync, readdirSync, renameSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SessionFiles } from '@groundcrew/store';
import { isAbsent } from './absent.js';
import { leftDirectories } from './left-directories.js';
import { sessionDirectoryIn } from './session-directory.js';
import { removeSessionDirectory } from './spilled-output.js';

/** What sessions of a home keep in directories, as the store of that home deletes it. */
export interface RemovedFiles extends SessionFiles {
  /** Directories of sessions that the store does not know, and that hold nothing but what sessions keep. */
  unknown(isKnown: (sessionId: string) => boolean): readonly string[];
  /** The numbers of removed sessions whose files are still there. */
  detached(): readonly number[];
}

/** No session has an id that begins like this. */
const prefix = '.deleted-';

/**
 * A removed session's directory is first renamed, in one step, and then deleted: so the directory of a new session of the
 * same id is never mistaken for it.
 */
export function removedFilesIn(home: string): RemovedFiles {
  const root = dirname(sessionDirectoryIn(home, 'any'));
  const detachedDirectory = (number: number) => join(root, `${prefix}${number}`);
  return {
    detach: ({ number, id }, { isReused = false } = {}) => {
      const directory = sessionDirectoryIn(home, id);
      if (!rename(directory, detachedDirectory(number)) || !isReused) return;
      // A process that makes a session of this id has looked for its directory already.
      mkdirSync(join(directory, 'files'), { recursive: true, mode: 0o700 });
    },
    unknown: (isKnown) => leftDirectories(home, isKnown),
    discard: (number) => removeSessionDirectory(detachedDirectory(number)),
    detached: () =>
      namesIn(root).flatMap((name) => {
        const number = name.startsWith(prefix) ? Number(name.slice(prefix.length)) : Number.NaN;
        return Number.isSafeInteger(number) ? [number] : [];
      }),
  };
}

/** False when there is nothing to rename, or it was renamed before. */
function rename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
