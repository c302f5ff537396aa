import { lstat, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join } from 'node:path';
import { absent } from '../workspace/absent.js';
import type { ReadCommand } from './command-rules.js';

/** Where git keeps what its user set for all repositories. */
export function userGitSettings(): readonly string[] {
  return [inHome('.gitconfig'), inSettings('git/config')];
}

/**
 * Which of these files of the user were written, or put there, since this runtime started: one of its sessions may have done it
 * where nothing was asked. No program can set back the time that counts.
 */
export async function writtenSinceStart(files: readonly string[]): Promise<readonly string[]> {
  const isWritten = await Promise.all(
    files.map(async (file) => {
      const found = await Promise.all([stat(file).catch(absent), lstat(file).catch(absent)]);
      return found.some((each) => each !== undefined && each.ctimeMs >= performance.timeOrigin);
    }),
  );
  return files.filter((_, index) => isWritten[index]);
}

/** Whether one of these commands would read such a file in which a program to run may be named. */
export async function goesByWrittenFiles(commands: readonly ReadCommand[]): Promise<boolean> {
  const programs = commands.map(({ words: [name = ''] }) => basename(name));
  const files = programs.flatMap((program) => startFiles.get(program)?.() ?? []);
  return (await writtenSinceStart([...new Set(files)])).length > 0;
}

/** Programs that are understood, and files in which they may be told to run, or load, others. Git talks to others by `ssh`. */
const startFiles: ReadonlyMap<string, () => readonly string[]> = new Map([
  ['wget', () => [inHome('.wgetrc')]],
  ['curl', () => [inHome('.curlrc'), inSettings('curlrc')]],
  ...['git', 'ssh', 'scp', 'sftp', 'rsync'].map((name) => [name, () => [inHome('.ssh/config')]] as const),
]);

function inHome(name: string): string {
  return join(homedir(), name);
}

function inSettings(name: string): string {
  // An empty variable is none.
  return join(process.env.XDG_CONFIG_HOME || inHome('.config'), name);
}
