import { constants } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';

/** A link, or something that is no directory, stands where a directory should be. */
export class NoDirectory extends Error {
  override readonly name = 'NoDirectory';
}

/**
 * Works in a directory below a root that is reached one name at a time, each opened from the one before: a link is
 * not followed, even if a command puts it there meanwhile. `at` names a file in it for the time of the work.
 */
export async function inParent<T>(
  root: string,
  way: { readonly names: readonly string[]; readonly makes: boolean },
  work: (at: (name: string) => string) => Promise<T>,
): Promise<T> {
  if (way.makes) await mkdir(root, { recursive: true, mode: 0o700 });
  let handle = await openDirectory(root);
  let path = root;
  try {
    for (const name of way.names) {
      const next = join(hasHandlePaths ? `/proc/self/fd/${handle.fd}` : path, name);
      if (way.makes) await mkdir(next, { mode: 0o700 }).catch(unlessThere);
      const inner = await openDirectory(next);
      await handle.close();
      handle = inner;
      path = join(path, name);
    }
    const { fd } = handle;
    return await work((name) => join(hasHandlePaths ? `/proc/self/fd/${fd}` : path, name));
  } finally {
    await handle.close();
  }
}

/** Linux looks names up in an open directory by its number. */
const hasHandlePaths = process.platform === 'linux';

async function openDirectory(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;
  return open(path, flags).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ELOOP' || error.code === 'ENOTDIR') throw new NoDirectory(path);
    throw error;
  });
}

function unlessThere(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EEXIST') throw error;
}
