import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from './absent.js';
import { type FileSync, unsynced } from './file-sync.js';
import { replaceFile } from './replace-file.js';

/** A summary that a compaction has left, as the index names it. */
export interface Checkpoint {
  readonly number: number;
  readonly title: string;
  readonly filename: string;
}

/** The summaries of a session, one file each, and their index. */
export class Checkpoints {
  constructor(
    private readonly directory: string,
    private readonly sync: FileSync = unsynced,
  ) {}

  /** Keeps a summary beside the earlier ones, and names it in the index; returns its path. */
  async write({
    number,
    title,
    text,
  }: {
    readonly number: number;
    readonly title: string;
    readonly text: string;
  }): Promise<string> {
    const filename = `${String(number).padStart(3, '0')}-${slugOf(title) || 'checkpoint'}.md`;
    const path = join(this.directory, filename);
    await replaceFile(path, `${text}\n`);
    await this.sync.push(path);
    const others = (await this.list()).filter((each) => each.number !== number);
    await this.writeIndex([...others, { number, title: title.replaceAll('|', '/'), filename }]);
    return this.sync.shown(path);
  }

  /** In the order in which they were made; a line that is none is passed over. */
  async list(): Promise<readonly Checkpoint[]> {
    await this.sync.pull(this.indexPath);
    const text = (await readFile(this.indexPath, 'utf8').catch(absent)) ?? '';
    return text.split('\n').flatMap((line) => {
      const [, number, title, filename] = row.exec(line) ?? [];
      if (number === undefined || title === undefined || filename === undefined) return [];
      return [{ number: Number(number), title, filename }];
    });
  }

  /** Undefined when there is none of this number. */
  async read(number: number): Promise<string | undefined> {
    const found = (await this.list()).find((each) => each.number === number);
    if (!found) return undefined;
    const path = join(this.directory, found.filename);
    await this.sync.pull(path);
    const text = await readFile(path, 'utf8').catch(absent);
    return text?.replace(/\n$/, '');
  }

  /** Removes those with a higher number. */
  async dropAfter(number: number): Promise<void> {
    await this.drop((each) => each.number > number);
  }

  /** Keeps so many of the oldest. */
  async keepFirst(count: number): Promise<void> {
    await this.drop((_, index) => index >= count);
  }

  private async drop(isGone: (checkpoint: Checkpoint, index: number) => boolean): Promise<void> {
    const all = await this.list();
    const gone = all.filter(isGone);
    if (gone.length === 0) return;
    await this.writeIndex(all.filter((each) => !gone.includes(each)));
    for (const path of gone.map(({ filename }) => join(this.directory, filename))) {
      await rm(path, { force: true });
      await this.sync.push(path);
    }
  }

  /** An index is there, be it of nothing. */
  async ensureIndex(): Promise<void> {
    await this.writeIndex(await this.list());
  }

  private async writeIndex(checkpoints: readonly Checkpoint[]): Promise<void> {
    const rows = checkpoints.map(({ number, title, filename }) => `| ${number} | ${title} | ${filename} |`);
    await replaceFile(this.indexPath, `${[heading, ...rows].join('\n')}\n`);
    await this.sync.push(this.indexPath);
  }

  private get indexPath(): string {
    return join(this.directory, 'index.md');
  }
}

const heading = '| # | Title | File |\n| --- | --- | --- |';
/** File names of the index are those that `write` makes: nothing that leads elsewhere. */
const row = /^\| (\d+) \| (.*) \| (\d+-[a-z0-9-]+\.md) \|$/;

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-|-$/g, '');
}
