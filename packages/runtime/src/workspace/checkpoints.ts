import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent } from './absent.js';
import { replaceFile } from './replace-file.js';

/** A summary that a compaction has left, as the index names it. */
export interface Checkpoint {
  readonly number: number;
  readonly title: string;
  readonly filename: string;
}

/** The summaries of a session, one file each, and their index. */
export class Checkpoints {
  constructor(private readonly directory: string) {}

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
    const others = (await this.list()).filter((each) => each.number !== number);
    await this.writeIndex([...others, { number, title: title.replaceAll('|', '/'), filename }]);
    return path;
  }

  /** In the order in which they were made; a line that is none is passed over. */
  async list(): Promise<readonly Checkpoint[]> {
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
    const text = await readFile(join(this.directory, found.filename), 'utf8').catch(absent);
    return text?.replace(/\n$/, '');
  }

  /** Removes those with a higher number. */
  async dropAfter(number: number): Promise<void> {
    const all = await this.list();
    const gone = all.filter((each) => each.number > number);
    if (gone.length === 0) return;
    await this.writeIndex(all.filter((each) => each.number <= number));
    for (const { filename } of gone) await rm(join(this.directory, filename), { force: true });
  }

  private async writeIndex(checkpoints: readonly Checkpoint[]): Promise<void> {
    const rows = checkpoints.map(({ number, title, filename }) => `| ${number} | ${title} | ${filename} |`);
    await replaceFile(this.indexPath, `${[heading, ...rows].join('\n')}\n`);
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
