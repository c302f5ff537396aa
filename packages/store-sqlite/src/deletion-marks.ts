import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, syncPath } from '@groundcrew/store';
import type { RemovedSession } from './sessions.js';

/** A session whose deletion has begun. */
export type MarkedSession = Pick<RemovedSession, 'number'> & { readonly id: string };

const prefix = 'deleted-';

/**
 * A file for each session whose deletion has begun and is not over. The store's own record of it may be damaged with the
 * store; a repair reads these, so that it does not bring back deleted sessions.
 */
export class DeletionMarks {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** Is on the disk when this returns. */
  set({ number, id }: Pick<RemovedSession, 'number' | 'id'>): void {
    makeDirectory(this.#directory);
    const handle = openSync(this.#fileOf(number), 'w', 0o600);
    try {
      writeSync(handle, id ?? '');
      fsyncSync(handle);
    } finally {
      closeSync(handle);
    }
    syncPath(this.#directory);
  }

  /** The marks that are there. */
  list(): readonly MarkedSession[] {
    return this.#names().flatMap((name) => {
      const number = Number(name.slice(prefix.length));
      return Number.isSafeInteger(number) ? [{ number, id: this.#read(name) }] : [];
    });
  }

  /** The deletion is over. */
  clear(numbers: Iterable<number>): void {
    for (const number of numbers) rmSync(this.#fileOf(number), { force: true });
  }

  #names(): readonly string[] {
    try {
      return readdirSync(this.#directory).filter((name) => name.startsWith(prefix));
    } catch (error) {
      if (isAbsent(error)) return [];
      throw error;
    }
  }

  /** Another process may have finished the deletion meanwhile. */
  #read(name: string): string {
    try {
      return readFileSync(join(this.#directory, name), 'utf8');
    } catch (error) {
      if (isAbsent(error)) return '';
      throw error;
    }
  }

  #fileOf(number: number): string {
    return join(this.#directory, `${prefix}${number}`);
  }
}

function isAbsent(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
