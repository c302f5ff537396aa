import { chmodSync, existsSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DeletionMarks } from '../deletion-marks.js';
import { loadDriver } from '../driver.js';
import { Liveness } from '../liveness.js';
import { recoveryCopies } from '../recovery-copies.js';
import { type Finding, recoveringFile, type StorePlace } from './finding.js';

/** Checks what lies around a store: who else may use it, which runtimes live, what dead ones left. */
export function inspectFiles(place: StorePlace): readonly Finding[] {
  const { alive, dead } = livenessOf(place).survey();
  const recovering = recoveringFile(place.file);
  const marked = new DeletionMarks(place.runDirectory).list().length;
  return [
    ...exposedPaths(place).map(exposed),
    ...(marked > 0 && alive.length === 0
      ? [unfinished(`The deletion of ${many(marked, 'session')} was broken off.`)]
      : []),
    ...(alive.length > 0 ? [note(`In use by ${many(alive.length, 'runtime')}.`)] : []),
    ...(dead.length > 0
      ? [leftover(`Processes that have ended left ${many(dead.length, 'lock file')}.`)]
      : []),
    ...recoveryCopies(place.file).map((kept) =>
      note(
        `${kept} is kept from a recovery and may hold sessions that were deleted since. Remove it when you no longer need it.`,
      ),
    ),
    ...(existsSync(recovering) ? [leftover(`A recovery that was broken off left ${recovering}.`)] : []),
  ];
}

/** Makes files private to their owner and removes those that dead processes left. Returns a line for each change. */
export function tidyFiles(place: StorePlace): readonly string[] {
  const paths = exposedPaths(place);
  for (const { path, mode, excess } of paths) chmodSync(path, mode & ~excess);
  const liveness = livenessOf(place);
  const removed = liveness.survey().dead.filter((runtimeId) => !liveness.isAlive(runtimeId));
  const recovering = recoveringFile(place.file);
  const isLeft = existsSync(recovering);
  rmSync(recovering, { force: true });
  return [
    ...paths.map(({ path }) => `Closed ${path} to other users.`),
    ...(removed.length > 0
      ? [`Removed ${many(removed.length, 'lock file')} of processes that have ended.`]
      : []),
    ...(isLeft ? [`Removed ${recovering}.`] : []),
  ];
}

/** How many runtimes live that have the home in use. */
export function countRuntimes(place: StorePlace): number {
  return livenessOf(place).survey().alive.length;
}

function livenessOf({ runDirectory }: StorePlace): Liveness {
  return new Liveness({ driver: loadDriver, directory: runDirectory });
}

interface ExposedPath {
  readonly path: string;
  readonly mode: number;
  /** The bits that should not be set. */
  readonly excess: number;
}

/** Files are for their owner only; directories may be looked into, not changed. Windows knows no such modes. */
function exposedPaths({ file, runDirectory }: StorePlace): readonly ExposedPath[] {
  if (process.platform === 'win32') return [];
  return [dirname(file), runDirectory, file, `${file}-wal`, `${file}-shm`].flatMap((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (!stats) return [];
    const mode = stats.mode & 0o777;
    const excess = mode & (stats.isDirectory() ? 0o022 : 0o077);
    return excess === 0 ? [] : [{ path, mode, excess }];
  });
}

function exposed({ path, mode }: ExposedPath): Finding {
  return { type: 'exposed', message: `${path} is open to other users (mode ${mode.toString(8)}).` };
}

function note(message: string): Finding {
  return { type: 'note', message };
}

function unfinished(message: string): Finding {
  return { type: 'unfinished', message };
}

function leftover(message: string): Finding {
  return { type: 'leftover', message };
}

function many(count: number, what: string): string {
  return count === 1 ? `one ${what}` : `${count} ${what}s`;
}
