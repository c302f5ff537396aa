import { createHash } from 'node:crypto';
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
      if (own !== undefined && own !== found.text && digestOf(own) !== lastCopy(homeDirectory)) {
        const kept = join(homeDirectory, 'permissions-config.before-cluster.json');
        if (!existsSync(kept)) writeFileSync(kept, own, { mode: 0o600 });
        warn(
          `The approvals of this home differ from those of the other nodes, which count; they are kept in ${kept}`,
        );
      }
      await runtime.refreshBook(found.text);
      writeFileSync(markerIn(homeDirectory), digestOf(ownText(homeDirectory) ?? ''), { mode: 0o600 });
      this.#version = found.version;
      this.#failed = '';
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.#failed) warn(`Approvals of other nodes cannot be taken over: ${message}`);
      this.#failed = message;
    }
  }
}

/** Says which text was copied last: a node that was away has an old copy, and nothing of its own. */
function markerIn(homeDirectory: string): string {
  return join(homeDirectory, 'permissions-config.copied');
}

function lastCopy(homeDirectory: string): string | undefined {
  const path = markerIn(homeDirectory);
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url');
}

function ownText(homeDirectory: string): string | undefined {
  const path = join(homeDirectory, 'permissions-config.json');
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined;
}
