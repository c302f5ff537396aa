import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a directory and those above it. Node's own recursive `mkdir` never ends below a directory in which nothing can be
 * made, such as `/proc`, and holds a thread of the process all the time.
 */
export async function makeDirectories(path: string): Promise<void> {
  try {
    await mkdir(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST' && (await stat(path)).isDirectory()) return;
    if (code !== 'ENOENT' || dirname(path) === path) throw error;
    await makeDirectories(dirname(path));
    await mkdir(path);
  }
}
