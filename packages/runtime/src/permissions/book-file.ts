import { readFileSync, statSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import { syncPath, writeWholeFile } from '@groundcrew/store';
import { type BookContents, BookFault, emptyBook, parseBook } from './book-contents.js';

/** The file in a home that holds approvals for good. */
export class BookFile {
  readonly path: string;
  private known: { readonly stamp: string; readonly contents: BookContents } | undefined;

  constructor(directory: string) {
    this.path = `${directory}${sep}permissions-config.json`;
  }

  /** Reads the file as it is now; empty where there is none. Throws BookFault. */
  read(): BookContents {
    const stamp = this.stamp();
    if (this.known?.stamp === stamp) return this.known.contents;
    const contents = stamp === '' ? emptyBook : parseBook(this.source(), this.path);
    this.known = { stamp, contents };
    return contents;
  }

  /** There is always a whole file in its place. */
  replace(text: string): void {
    writeWholeFile(this.path, text, syncPath);
    syncPath(dirname(this.path));
  }

  private source(): string {
    try {
      return readFileSync(this.path, 'utf8');
    } catch (error) {
      throw new BookFault(
        `${this.path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
      );
    }
  }

  private stamp(): string {
    const stats = statSync(this.path, { throwIfNoEntry: false, bigint: true });
    return stats ? `${stats.ino} ${stats.size} ${stats.mtimeNs}` : '';
  }
}
