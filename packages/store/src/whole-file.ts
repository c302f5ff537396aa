import { randomUUID } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';

/**
 * Writes a file for its owner alone. There is always a whole one in its place: the one before, or this one. `isReady` is
 * called with the draft before that takes its place; what it throws keeps the file as it was.
 */
export function writeWholeFile(path: string, text: string, isReady?: (draft: string) => void): void {
  const draft = `${path}.${randomUUID()}`;
  try {
    writeFileSync(draft, text, { mode: 0o600, flag: 'wx' });
    isReady?.(draft);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}
