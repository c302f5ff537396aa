import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { isAbsent } from '../workspace/absent.js';

/** Whether there are links anywhere below a directory; one that is not there has none, and one too large to look at may. */
export async function hasLinksBelow(root: string): Promise<boolean> {
  const waiting = [root];
  let looked = 0;
  try {
    for (let place = waiting.pop(); place !== undefined; place = waiting.pop())
      for await (const entry of await opendir(place)) {
        looked += 1;
        if (entry.isSymbolicLink() || looked > mostEntries) return true;
        if (entry.isDirectory()) waiting.push(join(place, entry.name));
      }
    return false;
  } catch (error) {
    return !isAbsent(error);
  }
}

/** More would keep the one who asks waiting. */
const mostEntries = 5000;
