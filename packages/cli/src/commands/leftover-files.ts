import { rmSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { removedFilesIn } from '@groundcrew/runtime';
import {
  type Finding,
  type Inspection,
  isProblem,
  loadDoctor,
  recoveryCopies,
  type StorePlace,
} from '@groundcrew/store-sqlite';

/** What sessions that are no more have left in the directories of a home. */
export async function inspectDirectories(
  place: StorePlace,
  inspection: Inspection,
): Promise<readonly Finding[]> {
  const { removed, unknown } = await leftIn(place, inspection);
  const count = removed.length + unknown.length;
  if (count === 0) return [];
  const what = count === 1 ? 'a directory' : `${count} directories`;
  return [{ type: 'leftover', message: `Deleted sessions left ${what}.` }];
}

/** Removes leftover files, including spilled results in other directories. Returns a line for each change. */
export async function tidyDirectories(place: StorePlace, inspection: Inspection): Promise<readonly string[]> {
  const { removed, unknown } = await leftIn(place, inspection);
  const files = removedFilesIn(dirname(place.file));
  // A number that no session has ever had: what is detached under it is in no one's way.
  for (const directory of unknown) {
    files.detach({ number: 0, id: basename(directory) });
    await files.discard(0);
    rmSync(directory, { recursive: true, force: true });
  }
  for (const number of removed) await files.discard(number);
  const count = removed.length + unknown.length;
  return count === 0
    ? []
    : [`Removed ${count === 1 ? 'a directory' : `${count} directories`} of deleted sessions.`];
}

/**
 * Only a sound store that no process uses says for certain which sessions there are; beside a store that was kept from a recovery
 * lie files of sessions that are lost, not deleted.
 */
async function leftIn(place: StorePlace, { findings, contents }: Inspection) {
  const isCertain = contents !== undefined && !findings.some(isProblem);
  const { countRuntimes, sessionIds } = await loadDoctor();
  if (!isCertain || countRuntimes(place) > 0) return { removed: [], unknown: [] };
  const files = removedFilesIn(dirname(place.file));
  const isPending = findings.some(({ type }) => type === 'unfinished');
  const ids = sessionIds(place.file);
  return {
    removed: isPending ? [] : files.detached(),
    unknown: isPending || recoveryCopies(place.file).length > 0 ? [] : files.unknown((id) => ids.has(id)),
  };
}
