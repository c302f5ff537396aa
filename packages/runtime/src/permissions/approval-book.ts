import { mkdirSync } from 'node:fs';
import { dirname, sep } from 'node:path';
import type { WithFileLock } from '@groundcrew/store';
import { type BookContents, printBook } from './book-contents.js';
import { BookFault } from './book-fault.js';
import { BookFile } from './book-file.js';

/** Approvals that outlive sessions: by place, by host, and the folders users trust. One file in the home, read by all processes. */
export class ApprovalBook {
  private readonly file: BookFile;
  private readonly guard: string;

  /** The directory is a resolved path; every session has a book, so the names are put together by hand. */
  constructor(
    directory: string,
    private readonly withFileLock: WithFileLock,
  ) {
    this.file = new BookFile(directory);
    this.guard = `${directory}${sep}run${sep}permissions-config.guard`;
  }

  /** What the book says now; throws BookFault. */
  read(): BookContents {
    return this.file.read();
  }

  /** Changes the book while no other process does; it is on the disk when this resolves. Throws BookFault. */
  async change(change: (contents: BookContents) => BookContents): Promise<void> {
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
