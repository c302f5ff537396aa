import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from './absent.js';
import type { FileSync } from './file-sync.js';
import { replaceFile } from './replace-file.js';

/** What autopilot works towards, in a file of the session's directory. */
export class ObjectiveFile {
  constructor(
    private readonly directory: string,
    private readonly sync: FileSync,
  ) {}

  async read(): Promise<string | undefined> {
    await this.sync.pull(this.path);
    return readFile(this.path, 'utf8').catch(absent);
  }

  /** The file is on the disk, whole, when this resolves. */
  async write(content: string): Promise<'create' | 'update'> {
    const existed = (await this.read()) !== undefined;
    await replaceFile(this.path, content);
    await this.sync.push(this.path);
    return existed ? 'update' : 'create';
  }

  /** False when there was none. */
  async remove(): Promise<boolean> {
    const existed = (await this.read()) !== undefined;
    await rm(this.path, { force: true });
    if (existed) await this.sync.push(this.path);
    return existed;
  }

  private get path(): string {
    return join(this.directory, 'autopilot-objective.md');
  }
}
