import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Runtime } from '@groundcrew/runtime';
import type { SharedBook } from '@groundcrew/store';

/** What a copy is made of. */
export interface BookCopyParts {
  readonly book: SharedBook;
  readonly homeDirectory: string;
  warn(message: string): void;
}

/** The approvals of all nodes, copied into the home of this one, where they are read whenever a tool is called. */
export class BookCopy {
  #version = 0;
  #failed = '';

  constructor(private readonly parts: BookCopyParts) {}

  /** Takes over what has changed since; the first node gives its own. */
  async refresh(runtime: Pick<Runtime, 'refreshBook'>): Promise<void> {
    const { book, homeDirectory, warn } = this.parts;
    try {
      const own = this.#version === 0 ? ownText(homeDirectory) : undefined;
      const found = await book.read(this.#version);
      if (!found) {
        if (own !== undefined && (await book.write(own, 0))) this.#version = 1;
        return;
      }
      if (own !== undefined && own !== found.text) {
        const kept = join(homeDirectory, 'permissions-config.before-cluster.json');
        if (!existsSync(kept)) writeFileSync(kept, own, { mode: 0o600 });
        warn(
          `The approvals of this home differ from those of the other nodes, which count; they are kept in ${kept}`,
        );
      }
      await runtime.refreshBook(found.text);
      this.#version = found.version;
      this.#failed = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#failed) warn(`Approvals of other nodes cannot be taken over: ${message}`);
      this.#failed = message;
    }
  }
}

function ownText(homeDirectory: string): string | undefined {
  const path = join(homeDirectory, 'permissions-config.json');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
