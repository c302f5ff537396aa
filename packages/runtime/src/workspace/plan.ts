import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from './absent.js';
import { type FileSync, unsynced } from './file-sync.js';

/** The file of a session's plan. */
export function planPathIn(sessionDirectory: string): string {
  return join(sessionDirectory, 'plan.md');
}

/** An empty file is no plan: it is only where one may be written. */
export async function readPlanIn(
  sessionDirectory: string,
  sync: FileSync = unsynced,
): Promise<string | undefined> {
  await sync.pull(planPathIn(sessionDirectory));
  return (await readFile(planPathIn(sessionDirectory), 'utf8').catch(absent)) || undefined;
}
