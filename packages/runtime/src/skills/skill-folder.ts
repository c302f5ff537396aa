import { type FSWatcher, statSync, watch } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { type FoundSkill, readSkill, skillFile } from './skill.js';

/** More folders beside one another are no library that a user keeps. */
const mostFolders = 2000;

/** How many files are read at a time. */
const atOnce = 16;

/** One folder of the disk, and what was found in it. */
interface Child {
  readonly stamp: string;
  readonly found: FoundSkill;
}

/** The skills in one directory, read again when the disk has changed. */
export class SkillFolder {
  private children: ReadonlyMap<string, Child> = new Map();
  private readonly watchers = new Map<string, FSWatcher>();
  private identity = '';
  private isStale = true;
  /** Watching does not work here: every file is looked at instead. */
  private isBlind = false;
  private reading: Promise<void> | undefined;
  private notice: string | undefined;

  constructor(
    readonly path: string,
    /** The project that it belongs to: what links lead elsewhere does not count, for the directory is a stranger's. */
    private readonly options: { readonly project?: string | undefined },
  ) {}

  /** In the order of their folders' names. */
  get found(): readonly FoundSkill[] {
    const found = [...this.children.values()].map((child) => child.found);
    return this.notice === undefined ? found : [...found, { problems: [this.notice] }];
  }

  /** Goes up with every change. */
  version = 0;

  /** Reads what has changed. Cheap when nothing has. */
  refresh(): Promise<void> {
    this.reading ??= this.readChanges().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  /** Looks at every file again at the next refresh. */
  expire(): void {
    this.isStale = true;
  }

  close(): void {
    for (const watcher of this.watchers.values()) watcher.close();
    this.watchers.clear();
    this.isStale = true;
  }

  private async readChanges(): Promise<void> {
    const identity = identityOf(this.path);
    if (identity === '') return this.empty();
    if (identity !== this.identity) this.close();
    // Reports of changes that are on their way arrive before this goes on.
    if (this.watchers.size > 0) await new Promise((resolve) => setImmediate(resolve));
    if (!this.isStale && !this.isBlind) return;
    this.identity = identity;
    this.isStale = false;
    this.watch(this.path);
    const names = await this.folders();
    const before = this.children;
    this.children = await this.readAll(names);
    this.unwatchOthers(names);
    if (!isSame(before, this.children)) this.version += 1;
  }

  private empty(): void {
    if (this.children.size > 0) this.version += 1;
    this.close();
    this.children = new Map();
    this.identity = '';
  }

  /** The folders that may be skills; the directory itself may be one, too. */
  private async folders(): Promise<readonly string[]> {
    this.notice = undefined;
    const { project } = this.options;
    if (project !== undefined && !(await isInside(this.path, project))) {
      this.notice = `${this.path}: the directory is a link to a place outside of the project`;
      return [];
    }
    const entries = await readdir(this.path, { withFileTypes: true }).catch((error: unknown) => {
      this.notice = `${this.path}: ${error instanceof Error ? error.message : String(error)}`;
      return [];
    });
    if (entries.some(({ name }) => name === skillFile)) return [''];
    const folders = entries
      .filter((entry) => !entry.name.startsWith('.') && (entry.isDirectory() || entry.isSymbolicLink()))
      .map(({ name }) => name)
      .sort();
    if (folders.length > mostFolders)
      this.notice = `${this.path}: only the first ${mostFolders} of ${folders.length} folders are looked at`;
    return folders.slice(0, mostFolders);
  }

  private async readAll(names: readonly string[]): Promise<ReadonlyMap<string, Child>> {
    const children = new Map<string, Child>();
    for (let index = 0; index < names.length; index += atOnce) {
      const group = names.slice(index, index + atOnce);
      const read = await Promise.all(group.map((name) => this.readChild(name)));
      for (const [at, child] of read.entries()) {
        const name = group[at];
        if (name !== undefined && child) children.set(name, child);
      }
    }
    return children;
  }

  private async readChild(name: string): Promise<Child | undefined> {
    const directory = join(this.path, name);
    if (name !== '') this.watch(directory);
    const stamp = identityOf(join(directory, skillFile), { withTime: true });
    if (stamp === '') return undefined;
    const known = this.children.get(name);
    if (known?.stamp === stamp) return known;
    if (this.options.project !== undefined && !(await isInside(directory, this.path)))
      return { stamp, found: { problems: [`${directory}: the folder is a link to another place`] } };
    return { stamp, found: await readSkill(directory) };
  }

  private watch(directory: string): void {
    if (this.isBlind || this.watchers.has(directory)) return;
    try {
      const watcher = watch(directory, { persistent: false }, () => this.expire());
      watcher.on('error', () => this.giveUpWatching());
      this.watchers.set(directory, watcher);
    } catch {
      // The system has no more watches, or none at all: files are looked at one by one from now on.
      this.giveUpWatching();
    }
  }

  private giveUpWatching(): void {
    this.isBlind = true;
    this.close();
  }

  private unwatchOthers(names: readonly string[]): void {
    const wanted = new Set([this.path, ...names.map((name) => join(this.path, name))]);
    for (const [directory, watcher] of this.watchers) {
      if (wanted.has(directory)) continue;
      watcher.close();
      this.watchers.delete(directory);
    }
  }
}

/** Whether a directory is another one, or lies in it, links followed. */
async function isInside(directory: string, parent: string): Promise<boolean> {
  const [real, base] = await Promise.all([realpath(directory), realpath(parent)]);
  return real === base || real.startsWith(`${base}/`) || real.startsWith(`${base}\\`);
}

/** Distinguishes one file or directory from another in its place; empty for what is not there. */
function identityOf(path: string, { withTime = false } = {}): string {
  const stats = statsOf(path);
  if (!stats) return '';
  return withTime
    ? `${stats.dev} ${stats.ino} ${stats.size} ${stats.mtimeNs} ${stats.ctimeNs}`
    : `${stats.dev} ${stats.ino}`;
}

function statsOf(path: string) {
  try {
    return statSync(path, { throwIfNoEntry: false, bigint: true });
  } catch {
    // What may not be looked at is not there.
    return undefined;
  }
}

function isSame(one: ReadonlyMap<string, Child>, other: ReadonlyMap<string, Child>): boolean {
  return one.size === other.size && [...one].every(([name, child]) => other.get(name) === child);
}
