import { cp, lstat, mkdir, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { absent } from './absent.js';

/** What of a session's own directory goes with a copy of it: its work, and not what belongs to the past of its log. */
const copiedNames = ['checkpoints', 'files', 'plan.md', 'session.db', 'session.db-wal'];

/** Copies what a session keeps in its directory into that of another one; links are not followed. */
export async function copyDirectory(from: string, to: string): Promise<void> {
  await mkdir(join(to, 'files'), { recursive: true, mode: 0o700 });
  const present = new Set((await readdir(from).catch(absent)) ?? []);
  for (const name of copiedNames) {
    if (!present.has(name)) continue;
    await cp(join(from, name), join(to, name), { recursive: true, filter: isPlain });
  }
}

/** Bytes of all files below a directory; 0 when it is not there. */
export async function sizeOfDirectory(directory: string): Promise<number> {
  const entries = (await readdir(directory, { recursive: true, withFileTypes: true }).catch(absent)) ?? [];
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await lstat(join(parentPath, name)).catch(absent))?.size ?? 0),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Commands may have put links and pipes there. */
async function isPlain(path: string): Promise<boolean> {
  const stats = await lstat(path);
  return (stats.isFile() || stats.isDirectory()) && !basename(path).endsWith('.tmp');
}
