import { opendir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbsent } from '../workspace/absent.js';
import { isWithin } from '../workspace/paths.js';

/** Whether there are links anywhere below a directory; one that is not there has none, and one too large to look at may. */
export function hasLinksBelow(root: string): Promise<boolean> {
  return hasLinkBelow(root, mostEntries, async () => true);
}

/** Whether links below a directory lead to directories outside of another one; what is too much to look at may have some. */
export function leadsOutBelow(root: string, outer: string): Promise<boolean> {
  return hasLinkBelow(root, mostUnpacked, (link) => isDirectoryOutside(link, outer));
}

async function hasLinkBelow(
  root: string,
  most: number,
  isMeant: (link: string) => Promise<boolean>,
): Promise<boolean> {
  const waiting = [root];
  let looked = 0;
  try {
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop())
      for await (const entry of await opendir(place)) {
        looked += 1;
        const path = join(place, entry.name);
        if (looked > most || (entry.isSymbolicLink() && (await isMeant(path)))) return true;
        if (entry.isDirectory()) waiting.push(path);
      }
    return false;
  } catch (error) {
    return !isAbsent(error);
  }
}

async function isDirectoryOutside(link: string, outer: string): Promise<boolean> {
  try {
    const target = await realpath(link);
    return !isWithin(outer, target) && (await stat(target)).isDirectory();
  } catch (error) {
    // A link to what is not there can be made to lead somewhere, but not by unpacking.
    return !isAbsent(error);
  }
}

/** A project with what it has installed. */
const mostUnpacked = 20_000;

/** To look at more would keep the call waiting for too long. */
const mostEntries = 5000;
