import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { diskFault, diskKinds } from '@groundcrew/store';

/** Writes a file of a session's own, whole or not at all; throws StoreError where the disk is the reason. */
export async function replaceFile(path: string, content: string | AsyncIterable<string>): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeFile(draft, content, { mode: 0o600 });
    await rename(draft, path);
  } catch (error) {
    throw isOfDisk(error) ? diskFault(error, dirname(path)) : error;
  } finally {
    await rm(draft, { force: true });
  }
}

function isOfDisk(error: unknown): boolean {
  const { code = '' } = error as NodeJS.ErrnoException;
  return code === 'EIO' || Object.hasOwn(diskKinds, code);
}
