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
  return (await readPlanFile(sessionDirectory, sync)) || undefined;
}

/** What the file holds; undefined when there is none. */
export async function readPlanFile(sessionDirectory: string, sync: FileSync): Promise<string | undefined> {
  await sync.pull(planPathIn(sessionDirectory));
  return readFile(planPathIn(sessionDirectory), 'utf8').catch(absent);
}
