import { mkdirSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { SharedBook, WithFileLock } from '@groundcrew/store';
import { type BookContents, BookFault, parseBook, printBook } from './book-contents.js';
import { BookFile } from './book-file.js';

/** Approvals that outlive sessions: by place, by host, and the folders users trust. One file in the home, read by all processes. */
export class ApprovalBook {
  private readonly file: BookFile;
  private readonly guard: string;

  /** The directory is a resolved path; every session has a book, so the names are put together by hand. */
  constructor(
    directory: string,
    private readonly withFileLock: WithFileLock,
    private readonly shared?: SharedBook,
  ) {
    this.file = new BookFile(directory);
    this.guard = `${directory}${sep}run${sep}permissions-config.guard`;
  }

  /** What the book says now; throws BookFault. */
  read(): BookContents {
    return this.file.read();
  }

  /** Changes the book while no other process or node does; it is stored when this resolves. Throws BookFault. */
  async change(change: (contents: BookContents) => BookContents): Promise<void> {
    if (!this.shared) return this.changeFile(change);
    try {
      const text = await this.changeShared(this.shared, change);
      await this.replace(text);
    } catch (error) {
      if (error instanceof BookFault) throw error;
      throw new BookFault(`The approvals of all nodes could not be changed: ${(error as Error).message}`);
    }
  }

  /** What all nodes go by is changed first; the file is the copy of this node. */
  private async changeShared(
    shared: SharedBook,
    change: (contents: BookContents) => BookContents,
  ): Promise<string> {
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const found = await shared.read();
      const before = found ? parseBook(found.text, this.file.path) : this.read();
      const after = change(before);
      if (found && after === before) return found.text;
      const text = printBook(after);
      if (await shared.write(text, found?.version ?? 0)) return text;
    }
    throw new BookFault('The approvals of all nodes are changed too often. Try again.');
  }

  /** Takes over the text of the other nodes. Throws BookFault. */
  replace(text: string): Promise<void> {
    return this.changeFile(() => parseBook(text, this.file.path));
  }

  private async changeFile(change: (contents: BookContents) => BookContents): Promise<void> {
    mkdirSync(dirname(this.guard), { recursive: true, mode: 0o700 });
    try {
      await this.withFileLock(this.guard, () => {
        const before = this.read();
        const after = change(before);
        if (after !== before) this.file.replace(printBook(after));
      });
    } catch (error) {
      if (error instanceof BookFault) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new BookFault(`${this.file.path} could not be written: ${reason}`);
    }
  }
}

/** Several nodes may change it in the same moment. */
const mostAttempts = 20;
