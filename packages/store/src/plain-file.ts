import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/**
 * The first `mostBytes` of a text file. Throws as `open` does, and where it is no plain file: a read from a pipe in its place
 * would block the whole process.
 */
export function readPlainFile(path: string, mostBytes: number): string {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  const file = openSync(path, O_RDONLY | O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`${path} is no plain file`);
    const room = Buffer.alloc(Math.min(stats.size, mostBytes));
    return room.toString('utf8', 0, readSync(file, room, 0, room.length, 0));
  } finally {
    closeSync(file);
  }
}

/**
 * Opens a plain file to read. Throws as `open` does, and for anything else: a read from a pipe or a device may never end, and
 * holds one of the few threads that all files are read by.
 */
export async function openPlainFile(
  path: string,
): Promise<{ readonly file: FileHandle; readonly size: number }> {
  const { O_RDONLY, O_NONBLOCK = 0 } = constants;
  const file = await open(path, O_RDONLY | O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile()) throw new Error(`${path} is no plain file`);
    return { file, size: stats.size };
  } catch (error) {
    await file.close();
    throw error;
  }
}
