import { RepeatedWork, type SessionFiles } from '@groundcrew/store';
import type { Connection } from './connection.js';
import { type Failpoint, reach } from './failpoints.js';
import { deleteSome, detachFiles, markErased, removedSessions } from './removed-sessions.js';

/** What an eraser works with. */
export interface EraserOptions {
  /** Does the work on a connection, again if one is lost. Throws StoreError. */
  use<T>(work: (connection: Connection) => Promise<T>): Promise<T>;
  readonly files: SessionFiles | undefined;
  readonly failpoint: Failpoint | undefined;
  readonly onWarning: (message: string) => void;
}

/**
 * Deletes what removed sessions left, in pieces: files, then records, then bodies. What is to be done is a row, so another
 * node goes on with what one that died has left; each step may be done again.
 */
export class Eraser {
  readonly #options: EraserOptions;
  readonly #work = new RepeatedWork(() => this.#eraseAll());
  #hasStarted = false;

  constructor(options: EraserOptions) {
    this.#options = options;
  }

  /** Resolves when nothing is left of what was removed before the call. Throws StoreError. */
  run(): Promise<void> {
    this.#hasStarted = true;
    return this.#work.run();
  }

  /** Runs in the background: once for what others have left, and `again` after a removal. */
  start({ again = false }: { readonly again?: boolean } = {}): void {
    if (this.#hasStarted && !again) return;
    this.run().catch((error: Error) => {
      if (!this.#work.isClosed) this.#options.onWarning(error.message);
    });
  }

  /** Gives what is under way a little time, then ends it after the step at hand; another node goes on. */
  close(): Promise<void> {
    return this.#work.close();
  }

  async #eraseAll(): Promise<void> {
    const removed = await this.#options.use(removedSessions);
    for (const { number, id } of removed) {
      if (this.#work.isClosed) return;
      await this.#erase(number, id !== null);
    }
  }

  async #erase(number: number, hasFiles: boolean): Promise<void> {
    const { use, files } = this.#options;
    if (hasFiles) await use((connection) => detachFiles(connection, { number, files, isReused: false }));
    await files?.discard(number);
    while (!this.#work.isClosed && (await use((connection) => deleteSome(connection, number))));
    if (this.#work.isClosed) return;
    await use((connection) => markErased(connection, number));
    reach(this.#options.failpoint, 'erased');
  }
}
