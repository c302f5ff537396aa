import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { makeDirectory } from '@groundcrew/store';
import { absent } from './absent.js';

/** Where results go that are too long for the model. */
export interface SpillPlace {
  /** The directory for them: the session's own, or one that the app has named. */
  readonly directory: string;
  /** The session's own directory, which remembers what was put elsewhere. */
  readonly sessionDirectory: string;
}

/** A fresh name for a result that goes to a file; its directory is there, and the file will go with the session. */
export function newSpillFile({ directory, sessionDirectory }: SpillPlace): string {
  const name = `${Date.now()}-copilot-tool-output-${randomUUID().replaceAll('-', '')}.txt`;
  const path = join(directory, name);
  makeDirectory(directory);
  const own = spillDirectoryIn(sessionDirectory);
  if (directory === own) return path;
  makeDirectory(own);
  writeFileSync(join(own, name + elsewhere), path, { mode: 0o600 });
  return path;
}

/** Where a session keeps long results, unless the app wants them elsewhere. */
export function spillDirectoryIn(sessionDirectory: string): string {
  return join(sessionDirectory, 'temp');
}

/** Removes a session's own directory, and the long results that were put elsewhere. */
export async function removeSessionDirectory(sessionDirectory: string): Promise<void> {
  const own = spillDirectoryIn(sessionDirectory);
  const names = (await readdir(own).catch(absent)) ?? [];
  const notes = names.filter((name) => name.endsWith(elsewhere));
  await Promise.all(notes.map((note) => removeNoted(join(own, note))));
  await rm(sessionDirectory, { recursive: true, force: true });
}

/** A name after which a note says where the result of that name is. */
const elsewhere = '.elsewhere';

/** Tools may write notes too: only what bears the name of such a result is removed. */
async function removeNoted(note: string): Promise<void> {
  const path = (await readFile(note, 'utf8').catch(absent)) ?? '';
  const isResult = /^\d+-copilot-tool-output-[\da-f]{32}\.txt$/.test(basename(path));
  if (isResult && basename(path) + elsewhere === basename(note)) await rm(path, { force: true });
}
