import { createHash, randomUUID } from 'node:crypto';
import { lstat, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from './absent.js';

/** A snapshot is not what it was when it was kept, or is gone. */
class SnapshotLost extends Error {
  override readonly name = 'SnapshotLost';
}

/** What files held before tools wrote them, by the digest of their content, in the session's own directory. */
export class FileSnapshots {
  constructor(private readonly sessionDirectory: string) {}

  /** Durable when it resolves; the same content is kept once. */
  async keep(content: Buffer): Promise<string> {
    const digest = digestOf(content);
    const path = join(this.directory, digest);
    const known = await lstat(path).catch(absent);
    if (known?.isFile() && known.size === content.length) return digest;
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const draft = `${path}.${randomUUID()}.tmp`;
    try {
      await writeSynced(draft, content);
      await rename(draft, path);
      await syncDirectory(this.directory);
    } finally {
      await rm(draft, { force: true });
    }
    return digest;
  }

  /** Throws when it is not what was kept. */
  async read(digest: string): Promise<Buffer> {
    const content = await readFile(join(this.directory, digest)).catch(absent);
    if (!content || digestOf(content) !== digest)
      throw new SnapshotLost(`The snapshot ${digest} is gone or damaged`);
    return content;
  }

  /** Removes what no change needs any more. */
  async prune(needed: ReadonlySet<string>): Promise<void> {
    const names = (await readdir(this.directory).catch(absent)) ?? [];
    for (const name of names) if (!needed.has(name)) await rm(join(this.directory, name), { force: true });
  }

  private get directory(): string {
    return join(this.sessionDirectory, 'rewind-file-snapshots');
  }
}

/** By which content is known. */
export function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeSynced(path: string, content: Buffer): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
  } finally {
    await handle.close();
  }
}
