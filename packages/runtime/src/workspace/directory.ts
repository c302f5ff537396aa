import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { isAt, openPlace, type Place, PlaceChanged } from './paths.js';

/** Something is there already. */
export class AlreadyThere extends Error {
  override readonly name = 'AlreadyThere';
}

/** Whose a file is, and what they may do with it. */
export interface Ownership {
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
}

/** An open directory that was judged before: names in it are looked up in it, wherever its path may lead by now. */
export class HeldDirectory {
  private constructor(
    private readonly handle: FileHandle,
    private readonly real: string,
  ) {}

  /** Holds a directory while `work` runs. */
  static async use<T>(place: Place, work: (directory: HeldDirectory) => Promise<T>): Promise<T> {
    const handle = await openPlace(place, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      return await work(new HeldDirectory(handle, place.real));
    } finally {
      await handle.close();
    }
  }

  /** The names in it, sorted, hidden ones too. */
  async names(): Promise<readonly string[]> {
    return (await readdir(this.at('.'))).sort();
  }

  /** Writes a new file, whole or not at all, and never over another; throws AlreadyThere. */
  async create(name: string, content: Uint8Array): Promise<void> {
    await this.draft(content, undefined, async (draft) => {
      await link(draft, this.at(name)).catch(async (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') throw new AlreadyThere(name);
        if (!linklessCodes.has(error.code)) throw error;
        await this.createPlainly(name, content);
      });
    });
  }

  /** Puts other content under a name at once. Further names of the same file keep the old content. */
  async replace(name: string, content: Uint8Array, owner: Ownership): Promise<void> {
    await this.draft(content, owner, async (draft) => {
      await rename(draft, this.at(name));
    });
  }

  /** Removes a file; one that is gone already is no error. */
  async remove(name: string): Promise<void> {
    if (!hasHandlePaths && !(await isAt(this.handle, this.real))) throw new PlaceChanged(this.real);
    await rm(this.at(name), { force: true });
  }

  /** Writes a file beside the one that is meant, and removes it unless it was put in place. */
  private async draft(
    content: Uint8Array,
    owner: Ownership | undefined,
    putInPlace: (draft: string) => Promise<void>,
  ): Promise<void> {
    if (!hasHandlePaths && !(await isAt(this.handle, this.real))) throw new PlaceChanged(this.real);
    const draft = this.at(`.${randomUUID()}.tmp`);
    try {
      await write(draft, content, owner);
      await putInPlace(draft);
    } finally {
      await rm(draft, { force: true });
    }
  }

  private async createPlainly(name: string, content: Uint8Array): Promise<void> {
    await write(this.at(name), content).catch((error: NodeJS.ErrnoException) => {
      throw error.code === 'EEXIST' ? new AlreadyThere(name) : error;
    });
  }

  private at(name: string): string {
    return join(hasHandlePaths ? `/proc/self/fd/${this.handle.fd}` : this.real, name);
  }
}

/** The directory a place is in, judged as the place itself was. */
export function parentOf(place: Place): Place {
  return { ...place, path: dirname(place.path), real: dirname(place.real), kind: 'directory' };
}

/** The name of a place in its real directory. */
export function nameOf(place: Place): string {
  return basename(place.real);
}

/** Linux looks names up in an open directory by its number. */
const hasHandlePaths = process.platform === 'linux';

/** What a file system without hard links answers. */
const linklessCodes: ReadonlySet<string | undefined> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]);

async function write(path: string, content: Uint8Array, owner?: Ownership): Promise<void> {
  const handle = await open(path, 'wx', owner?.mode ?? 0o666);
  try {
    await handle.writeFile(content);
    if (owner) await giveTo(handle, owner);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function giveTo(handle: FileHandle, { mode, uid, gid }: Ownership): Promise<void> {
  const drafted = await handle.stat();
  if (drafted.uid !== uid || drafted.gid !== gid) await handle.chown(uid, gid).catch(notPermitted);
  await handle.chmod(mode);
}

/** Only an administrator gives files away; for other users the file becomes their own. */
function notPermitted(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'EPERM') return undefined;
  throw error;
}
