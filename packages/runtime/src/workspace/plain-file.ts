import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';

/**
 * The text of a file, as far as it is used. Throws as `open` does, and where it is no plain file: a pipe that somebody put in
 * its place would be waited for without end, and with it all that the process does.
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
