import { constants, mkdir as makeOne, type Stats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename as renameFile, rm, rmdir } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { diskFault, makeDirectory } from '@groundcrew/store';
import { absent } from './absent.js';
import { Checkpoints } from './checkpoints.js';
import { type FileSync, unsynced } from './file-sync.js';
import { inParent, NoDirectory } from './held-parent.js';
import { ObjectiveFile } from './objective.js';
import { planPathIn, readPlanFile, readPlanIn } from './plan.js';
import { replaceFile } from './replace-file.js';
import type { Todos } from './todos.js';

/** Reads the todos of a session where that may take its time. */
interface TodoReader {
  run(
    name: 'todos',
    input: { readonly sessionDirectory: string },
    limits: { readonly milliseconds: number },
  ): Promise<Todos>;
}

/** A name leads out of the place it must stay in. */
class OutsideWorkspace extends Error {
  override readonly name = 'OutsideWorkspace';

  constructor(path: string) {
    super(`Path must stay inside the workspace files directory: ${path}`);
  }
}

/** The directory a session keeps for itself: its files and its plan. */
export class Workspace {
  /** What autopilot works towards. */
  readonly objective: ObjectiveFile;

  /** It was not there before. */
  private isOurs = false;
  /** What compactions have left. */
  readonly checkpoints: Checkpoints;

  constructor(
    readonly directory: string,
    private readonly jobs?: TodoReader,
    private readonly sync: FileSync = unsynced,
  ) {
    this.checkpoints = new Checkpoints(join(directory, 'checkpoints'), sync);
    this.objective = new ObjectiveFile(directory, sync);
  }

  /** The directory as clients and models know it. */
  get shownDirectory(): string {
    return this.sync.shown(this.directory);
  }

  /** The file of the plan, as clients and models know it. */
  get planPath(): string {
    return this.sync.shown(planPathIn(this.directory));
  }

  /**
   * Makes it in the thread pool, beside what its caller does: each directory is some tenths of a millisecond. The inner one
   * is tried at the end of this turn of the event loop, when the outer one is there; what is not as usual is done in order.
   * Rejects with StoreError when there is no room for it, or no leave.
   */
  async make(): Promise<void> {
    const [outer, inner] = await Promise.all([
      attempt(this.directory),
      new Promise((resolve) => setImmediate(resolve)).then(() => attempt(this.filesDirectory)),
    ]);
    this.isOurs = outer !== 'there';
    if (outer === 'failed' || inner === 'failed') this.makeInOrder();
  }

  /** Takes back what was made, unless there is something in it. */
  async unmake(): Promise<void> {
    if (!this.isOurs) return;
    for (const path of [this.filesDirectory, this.directory]) await rmdir(path).catch(() => undefined);
  }

  private makeInOrder(): void {
    try {
      makeDirectory(this.directory);
      makeDirectory(this.filesDirectory);
    } catch (error) {
      throw diskFault(error, this.directory);
    }
  }

  readPlan(): Promise<string | undefined> {
    return readPlanIn(this.directory, this.sync);
  }

  /** What the plan's file holds, be it nothing yet; undefined when there is none. */
  readPlanFile(): Promise<string | undefined> {
    return readPlanFile(this.directory, this.sync);
  }

  async writePlan(content: string): Promise<'create' | 'update'> {
    const existed = (await this.readPlan()) !== undefined;
    const path = planPathIn(this.directory);
    await replaceFile(path, content);
    await this.sync.push(path);
    return existed ? 'update' : 'create';
  }

  /** False when there was none. */
  async removePlan(): Promise<boolean> {
    const existed = (await this.readPlan()) !== undefined;
    const path = planPathIn(this.directory);
    await rm(path, { force: true });
    if (existed) await this.sync.push(path);
    return existed;
  }

  /** What the agent has set out to do. */
  async readTodos(): Promise<Todos> {
    const { hostedTodos, sessionDatabaseIn } = await import('./todos.js');
    if (this.sync.tables) return hostedTodos(this.sync.tables);
    const hasTables = await lstat(sessionDatabaseIn(this.directory)).catch(absent);
    if (!hasTables || !this.jobs) return { rows: [], dependencies: [] };
    return this.jobs.run('todos', { sessionDirectory: this.directory }, { milliseconds: 10_000 });
  }

  /** Names of all files, sorted, with `/` between directories. */
  async listFiles(): Promise<string[]> {
    await this.sync.pull(this.filesDirectory);
    const entries =
      (await readdir(this.filesDirectory, { recursive: true, withFileTypes: true }).catch(absent)) ?? [];
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(this.filesDirectory, join(entry.parentPath, entry.name)).split(sep).join('/'))
      .sort();
  }

  async readFile(path: string): Promise<string> {
    await this.pullInside(path);
    return this.inside(path, { makes: false }, async (target) => {
      const handle = await open(target, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
      try {
        return await handle.readFile('utf8');
      } finally {
        await handle.close();
      }
    });
  }

  /** Keeps a text that is too long for a prompt; returns its name among the files. */
  async savePaste(content: string, now: Date): Promise<string> {
    const taken = new Set(await this.listFiles());
    let name = `paste-${now.getTime()}.txt`;
    for (let number = 2; taken.has(name); number++) name = `paste-${now.getTime()}-${number}.txt`;
    await this.writeFile(name, content);
    return name;
  }

  /** Where clients find a file of this name. */
  filePath(name: string): string {
    return this.sync.shown(join(this.filesDirectory, name));
  }

  /** Whole or not at all. */
  async writeFile(path: string, content: string): Promise<'create' | 'update'> {
    await this.pullInside(path);
    const operation = await this.inside(path, { makes: true }, async (target) => {
      const before = await lstat(target).catch(absent);
      if (before?.isSymbolicLink()) throw new OutsideWorkspace(path);
      await replaceFile(target, content);
      return before === undefined ? 'create' : 'update';
    });
    await this.pushInside(path);
    return operation;
  }

  /** Makes a directory; one that is there is an error unless parents may be made too. */
  async makeDirectory(path: string, { recursive = false }: { readonly recursive?: boolean }): Promise<void> {
    await this.pullInside(path);
    await this.inside(path, { makes: recursive }, (target) =>
      mkdir(target, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
        if (!recursive || error.code !== 'EEXIST') throw error;
      }),
    );
    await this.pushInside(path);
  }

  /** Removes a file or directory; what is not there is an error unless forced, and so is a directory unless recursive. */
  async remove(path: string, how: { readonly recursive?: boolean; readonly force?: boolean }): Promise<void> {
    const { recursive = false, force = false } = how;
    await this.pullInside(path);
    await this.inside(path, { makes: false }, (target) => rm(target, { recursive, force })).catch(
      (error: unknown) => {
        if (!(force && isMissing(error))) throw error;
      },
    );
    await this.pushInside(path);
  }

  /** Gives a file or directory another name, which must not be taken. */
  async rename(source: string, destination: string): Promise<void> {
    for (const path of [source, destination]) await this.pullInside(path);
    await this.inside(source, { makes: false }, (from) =>
      this.inside(destination, { makes: true }, async (to) => {
        if (await lstat(to).catch(absent)) throw new Error(`${destination} is there already`);
        await renameFile(from, to);
      }),
    );
    for (const path of [destination, source]) await this.pushInside(path);
  }

  /** What a path leads to; throws when there is nothing. */
  async stat(path: string): Promise<Stats> {
    await this.pullInside(path);
    return this.inside(path, { makes: false }, (target) => lstat(target));
  }

  private async pushInside(path: string): Promise<void> {
    await this.sync.push(resolve(this.filesDirectory, path));
  }

  /** What leads elsewhere is refused by `inside`. */
  private async pullInside(path: string): Promise<void> {
    const target = resolve(this.filesDirectory, path);
    if (target.startsWith(this.filesDirectory + sep)) await this.sync.pull(target);
  }

  private get filesDirectory(): string {
    return `${this.directory}${sep}files`;
  }

  /** No `..`, no absolute path, and no link on the way that could lead elsewhere, whenever it is put there. */
  private async inside<T>(
    path: string,
    how: { readonly makes: boolean },
    work: (target: string) => Promise<T>,
  ): Promise<T> {
    const root = this.filesDirectory;
    const target = resolve(root, path);
    if (path === '' || path.includes('\0') || !target.startsWith(root + sep))
      throw new OutsideWorkspace(path);
    const names = relative(root, target).split(sep);
    const name = names.pop() ?? '';
    try {
      return await inParent(root, { names, ...how }, (at) => work(at(name)));
    } catch (error) {
      if (error instanceof NoDirectory || isLoop(error)) throw new OutsideWorkspace(path);
      if (error instanceof Error)
        error.message = error.message.replace(/\/proc\/self\/fd\/\d+\/[^']*/, target);
      throw error;
    }
  }
}

/** Makes a directory whose place is there. */
function attempt(path: string): Promise<'made' | 'there' | 'failed'> {
  return new Promise((resolve) => {
    makeOne(path, { mode: 0o700 }, (error) => {
      if (error === null) resolve('made');
      else resolve(error.code === 'EEXIST' ? 'there' : 'failed');
    });
  });
}

/** Nothing is there. */
function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

/** A link stands in the place of the file. */
function isLoop(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ELOOP';
}
