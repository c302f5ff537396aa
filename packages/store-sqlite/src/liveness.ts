import { closeSync, existsSync, openSync, readdirSync, rmSync, statSync } from 'node:fs';
import { sep } from 'node:path';
import { makeDirectory } from '@groundcrew/store';
import type { SqliteDatabase, SqliteDriver } from './driver.js';
import { isBusy } from './faults.js';
import { takeLock } from './file-lock.js';

interface HeldLock {
  readonly database: SqliteDatabase;
  readonly inode: number;
}

const staleLocksPerSweep = 16;

/**
 * Distinguishes live runtimes from dead ones without a heartbeat: each holds for life an exclusive lock on a file of its own,
 * and the kernel drops that lock however the process ends. A probe takes a shared lock, so that two probes never take
 * each other for life. The files are never opened but through SQLite: closing any other handle would drop the lock.
 */
export class Liveness {
  readonly #driver: () => SqliteDriver;
  readonly #directory: string;
  readonly #held = new Map<string, HeldLock>();

  constructor(options: { readonly driver: () => SqliteDriver; readonly directory: string }) {
    this.#driver = options.driver;
    this.#directory = options.directory;
  }

  /** Makes the runtime count as alive until `close`; throws SQLite's busy error while another process probes the file. */
  hold(runtimeId: string): void {
    const file = this.#fileOf(runtimeId);
    const held = this.#held.get(runtimeId);
    if (held && inodeOf(file) === held.inode) return;
    held?.database.close();
    this.#held.delete(runtimeId);
    makeDirectory(this.#directory);
    this.#held.set(runtimeId, this.#lock(file));
    this.#removeStale();
  }

  /** Whether the runtime lives in this process. */
  holds(runtimeId: string): boolean {
    return this.#held.has(runtimeId);
  }

  /** Whether the runtime's process still runs; the file that a dead one left is removed. */
  isAlive(runtimeId: string): boolean {
    const file = this.#fileOf(runtimeId);
    if (this.holds(runtimeId)) return true;
    return inodeOf(file) !== undefined && !this.#removeIfDead(file);
  }

  /** The runtimes that have a lock file here, by whether they live; the files stay. */
  survey(): { readonly alive: readonly string[]; readonly dead: readonly string[] } {
    const runtimeIds = this.#lockFiles().map((name) => decodeURIComponent(name.slice(0, -'.lock'.length)));
    const isDead = (runtimeId: string) =>
      !this.holds(runtimeId) && this.#ifDead(this.#fileOf(runtimeId), () => undefined);
    const dead = new Set(runtimeIds.filter(isDead));
    return { alive: runtimeIds.filter((runtimeId) => !dead.has(runtimeId)), dead: [...dead] };
  }

  /** From here on the runtimes held by this process count as dead. */
  close(): void {
    for (const [runtimeId, { database, inode }] of this.#held) {
      const file = this.#fileOf(runtimeId);
      if (inodeOf(file) === inode) rmSync(file, { force: true });
      database.close();
    }
    this.#held.clear();
  }

  #fileOf(runtimeId: string): string {
    return `${this.#directory}${sep}${encodeURIComponent(runtimeId)}.lock`;
  }

  #lock(file: string): HeldLock {
    if (inodeOf(file) === undefined) closeSync(openSync(file, 'wx', 0o600));
    const database = takeLock(file, this.#driver());
    const inode = inodeOf(file);
    if (inode !== undefined) return { database, inode };
    database.close();
    return this.#lock(file);
  }

  #removeStale(): void {
    const names = this.#lockFiles();
    const own = new Set([...this.#held.keys()].map((runtimeId) => this.#fileOf(runtimeId)));
    const others = names.map((name) => `${this.#directory}${sep}${name}`).filter((file) => !own.has(file));
    for (const file of others.slice(0, staleLocksPerSweep)) this.#removeIfDead(file);
  }

  #lockFiles(): readonly string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory).filter((name) => name.endsWith('.lock'));
  }

  /** Removes under the shared lock: a runtime that is just about to lock the file finds it gone and makes it anew. */
  #removeIfDead(file: string): boolean {
    return this.#ifDead(file, () => rmSync(file, { force: true }));
  }

  #ifDead(file: string, act: () => void): boolean {
    let probe: SqliteDatabase | undefined;
    try {
      probe = new (this.#driver().DatabaseSync)(file, { readOnly: true });
      probe.exec('PRAGMA busy_timeout = 0; BEGIN; SELECT count(*) FROM sqlite_schema');
      act();
      return true;
    } catch (error) {
      return !isBusy(error) && inodeOf(file) === undefined;
    } finally {
      probe?.close();
    }
  }
}

function inodeOf(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.ino;
}
