import { closeSync, constants, lstatSync, mkdirSync, openSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { planPathIn } from './plan.js';
import { homeOf } from './session-directory.js';

/** What of a session's own directory commands in a sandbox may change. */
export interface WritableParts {
  /** The directory itself, to look at. */
  readonly directory: string;
  readonly writable: readonly string[];
}

/**
 * The parts of a session's own directory that are for commands: files, long results and the plan. The rest is the
 * runtime's: a link that a command put beside its database would lead the runtime elsewhere. Undefined when there is no
 * such directory, or a link in its place, through which nothing is made.
 */
export function ownParts(sessionDirectory: string): WritableParts | undefined {
  if (!isRealDirectory(sessionDirectory)) return undefined;
  const directories = ['files', 'temp'].map((name) => join(sessionDirectory, name));
  for (const path of directories) makeUnlessThere(() => mkdirSync(path, { mode: 0o700 }));
  const plan = planPathIn(sessionDirectory);
  makeUnlessThere(() => closeSync(openSync(plan, newFile, 0o600)));
  return {
    directory: sessionDirectory,
    writable: [...directories, plan].filter((path) => {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      return path === plan ? stats?.isFile() : stats?.isDirectory();
    }),
  };
}

const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

/** The home may be reached by links, which are the user's; what is in it may not. */
function isRealDirectory(sessionDirectory: string): boolean {
  if (!lstatSync(sessionDirectory, { throwIfNoEntry: false })?.isDirectory()) return false;
  const home = homeOf(sessionDirectory);
  const inside = sessionDirectory.slice(home.length);
  return realpathSync(sessionDirectory) === realpathSync(home) + inside && dirname(sessionDirectory) !== home;
}

function makeUnlessThere(make: () => void): void {
  try {
    make();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return;
    throw error;
  }
}
