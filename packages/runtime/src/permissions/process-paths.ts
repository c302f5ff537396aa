import { lstat, readlink } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Whether a path leads through what the kernel shows each process of itself: `/proc/self/cwd/x`, `/dev/fd/3`, or a link to
 * such a place. Where it ends is another place in the process that runs a command than it is here.
 */
export async function leadsThroughProcess(path: string): Promise<boolean> {
  const left = path.split('/').filter((name) => name !== '');
  let place = '/';
  for (let links = 0; left.length > 0 && links < mostLinks; ) {
    const name = left.shift() ?? '';
    place = join(place, name);
    if (ofProcess.test(place)) return true;
    const kind = await lstat(place).catch(() => undefined);
    if (!kind) return false;
    if (!kind.isSymbolicLink()) continue;
    links += 1;
    const target = await readlink(place).catch(() => '');
    left.unshift(...target.split('/').filter((each) => each !== ''));
    place = target.startsWith('/') ? '/' : join(place, '..');
  }
  // Links in a circle lead nowhere.
  return left.length > 0;
}

const mostLinks = 40;
const ofProcess = /^\/proc\/(?:self|thread-self|\d+)(?:\/|$)/;
