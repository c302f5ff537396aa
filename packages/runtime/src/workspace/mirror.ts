import { isUtf8 } from 'node:buffer';
import { existsSync, realpathSync } from 'node:fs';
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { OneAtATime } from '../one-at-a-time.js';
import { absent } from './absent.js';
import type { FileSync } from './file-sync.js';
import { type HostedFiles, HostFailure, type HostingSettings } from './hosted-files.js';
import { isWithin } from './paths.js';
import { replaceFile } from './replace-file.js';

/** More than this are no files of one session. */
const mostEntries = 2000;
/** Deeper directories have paths that this disk cannot name. */
const mostLevels = 64;
/** How long a client may take for all files that are wanted at once. */
const patience = 120_000;
/** Bytes of a name that every file system takes. */
const longestName = 255;

/** Files of the session's directory that are the runtime's own: no client stores them or has a say in them. */
const own: ReadonlySet<string> = new Set([
  ...['', '-wal', '-shm', '-journal'].map((end) => `session.db${end}`),
  'events.mark.json',
  'factories',
  'rewind-file-snapshots',
]);

/**
 * A session's files on this disk, beside those that a client stores. The client's are the true ones: what is read is
 * brought first, and what is written counts as written when the client has it.
 */
export class Mirror implements FileSync {
  private readonly changes = new OneAtATime();

  constructor(
    private readonly directory: string,
    private readonly files: HostedFiles,
    private readonly settings: HostingSettings,
  ) {}

  shown(path: string): string {
    if (!isWithin(this.directory, path)) return path;
    const names = relative(this.directory, path).split(sep);
    return this.hosted(names.filter((name) => name !== ''));
  }

  local(path: string): string | undefined {
    const { statePath, separator } = this.settings;
    const root = withoutEnd(statePath, separator);
    if (path !== root && !path.startsWith(root + separator)) return undefined;
    const target = resolve(
      this.directory,
      path
        .slice(root.length + 1)
        .split(separator)
        .join(sep),
    );
    return isWithin(this.directory, target) ? target : undefined;
  }

  async pull(path: string): Promise<void> {
    const stored = this.stored(path);
    if (stored !== undefined) await this.changes.run('files', () => this.bring(stored, newAllowance()));
  }

  async push(path: string): Promise<void> {
    const stored = this.stored(path);
    if (stored !== undefined) await this.changes.run('files', () => this.store(stored, newAllowance()));
  }

  /** The path of what the client stores. */
  private stored(path: string): string | undefined {
    const inside = this.inside(path);
    if (inside === undefined) return undefined;
    const [first = ''] = relative(this.directory, inside).split(sep);
    return own.has(first) ? undefined : inside;
  }

  /** The home may be reached by links, and its files named by where they lead. */
  private inside(path: string): string | undefined {
    if (isWithin(this.directory, path)) return path;
    const real = existsSync(this.directory) ? realpathSync(this.directory) : this.directory;
    return isWithin(real, path) ? join(this.directory, relative(real, path)) : undefined;
  }

  private async bring(path: string, allowance: Allowance): Promise<void> {
    spend(allowance);
    const at = this.shown(path);
    const found = await this.files.stat(at);
    if (!found) return this.isRoot(path) ? undefined : rm(path, { recursive: true, force: true });
    if (!found.isDirectory) return this.bringFile(path, at);
    await this.bringDirectory(path, at, allowance);
  }

  private async bringFile(path: string, at: string): Promise<void> {
    const [content, before] = await Promise.all([this.files.read(at), lstat(path).catch(absent)]);
    if (content === undefined || (before && !before.isFile()))
      await rm(path, { recursive: true, force: true });
    if (content === undefined) return;
    const same = before?.isFile() && (await readFile(path, 'utf8').catch(absent)) === content;
    if (!same) await replaceFile(path, content);
  }

  private async bringDirectory(path: string, at: string, allowance: Allowance): Promise<void> {
    const before = await lstat(path).catch(absent);
    if (before && !before.isDirectory()) await rm(path, { force: true });
    await mkdir(path, { recursive: true, mode: 0o700 });
    const entries = (await this.files.list(at)).filter(({ name }) => isName(name) && !this.isOwn(path, name));
    if (entries.length > 0 && relative(this.directory, path).split(sep).length >= mostLevels)
      throw new HostFailure(`The directories of the session are deeper than ${mostLevels} there.`);
    for (const { name } of entries) await this.bring(join(path, name), allowance);
    if (this.isRoot(path)) return;
    const stored = new Set(entries.map(({ name }) => name));
    for (const name of await readdir(path))
      if (!stored.has(name)) await rm(join(path, name), { recursive: true, force: true });
  }

  private async store(path: string, allowance: Allowance): Promise<void> {
    spend(allowance);
    const at = this.shown(path);
    const here = await lstat(path).catch(absent);
    if (here?.isFile()) return this.files.write(at, await textOf(path));
    if (!here?.isDirectory()) return this.files.remove(at);
    await this.files.makeDirectory(at);
    for (const name of await readdir(path))
      if (!this.isOwn(path, name)) await this.store(join(path, name), allowance);
  }

  private hosted(names: readonly string[]): string {
    const { statePath, separator } = this.settings;
    return names.length === 0 ? statePath : [withoutEnd(statePath, separator), ...names].join(separator);
  }

  private isOwn(directory: string, name: string): boolean {
    return this.isRoot(directory) && own.has(name);
  }

  /** Some files of the session's directory are the runtime's own and not stored elsewhere. */
  private isRoot(path: string): boolean {
    return path === this.directory;
  }
}

/** How much may still be asked of a client for one wish. */
interface Allowance {
  files: number;
  readonly until: number;
}

function newAllowance(): Allowance {
  return { files: mostEntries, until: performance.now() + patience };
}

function spend(allowance: Allowance): void {
  allowance.files -= 1;
  if (allowance.files < 0) throw new HostFailure(`The session has more than ${mostEntries} files there.`);
  if (performance.now() > allowance.until)
    throw new HostFailure(
      `The client that stores the session's files took longer than ${patience / 1000} s for them.`,
    );
}

/** Nothing that leads elsewhere. Throws HostFailure for a name that this disk cannot hold. */
function isName(name: string): boolean {
  const length = Buffer.byteLength(name);
  if (length > longestName)
    throw new HostFailure(
      `The client that stores the session's files has one whose name is ${length} bytes long; at most ${longestName} are possible.`,
    );
  return name !== '' && name !== '.' && name !== '..' && !/[/\\\0]/.test(name);
}

function withoutEnd(path: string, separator: string): string {
  return path.endsWith(separator) ? path.slice(0, -1) : path;
}

/** What is stored elsewhere goes as text. */
async function textOf(path: string): Promise<string> {
  const content = await readFile(path);
  if (!isUtf8(content)) throw new HostFailure(`${path} is no text, and only text can be stored by a client.`);
  return content.toString();
}
