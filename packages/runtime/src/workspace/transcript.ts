import { appendFile, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import type { Workspace } from './workspace.js';

/** How far a transcript file goes. */
interface Written {
  readonly seq: number;
  /** How often the log had been cut: a file from before the next cut holds what is no longer there. */
  readonly cuts: number;
  readonly bytes: number;
}

/** The session's events as lines of JSON in its directory, for hooks that want to read what happened. */
export class Transcript {
  private written: Written | undefined;
  private updating: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly session: {
      readonly workspace: Workspace;
      readonly loadedState: { readonly removed: readonly unknown[] } | undefined;
      read(after?: number): AsyncIterable<readonly LogRecord[]>;
    },
  ) {}

  /** Adds what happened since the last time, be it in another process. Returns the file's path. */
  update(): Promise<string> {
    // Agents that work side by side want it at the same time: one writes after the other.
    const updated = this.updating.then(() => this.write());
    this.updating = updated.catch(() => undefined);
    return updated;
  }

  private async write(): Promise<string> {
    const { workspace } = this.session;
    const path = join(workspace.directory, 'transcript.jsonl');
    const mark = join(workspace.directory, 'transcript.mark.json');
    const cuts = this.session.loadedState?.removed.length ?? 0;
    // Its directory is there once something was written, and hooks wait for this.
    if (!this.written) await workspace.make();
    this.written ??= await writtenBefore(path, mark);
    if (this.written?.cuts !== cuts) this.written = undefined;
    if (!this.written) await writeFile(path, '', privately);
    let { seq, bytes } = this.written ?? { seq: 0, bytes: 0 };
    // A failure half-way leaves a file that is not as long as its mark says: it is written anew.
    this.written = undefined;
    for await (const batch of this.session.read(seq)) {
      const text = batch
        .filter(({ isPublic }) => isPublic)
        .map(({ json }) => `${json}\n`)
        .join('');
      bytes += Buffer.byteLength(text);
      seq = batch.at(-1)?.seq ?? seq;
      const reached = JSON.stringify({ seq, bytes, cuts });
      await Promise.all([appendFile(path, text, privately), writeFile(mark, reached, privately)]);
    }
    this.written = { seq, bytes, cuts };
    return path;
  }
}

const privately = { mode: 0o600 };

/** How far the file goes that another process has left; undefined when there is none, or none that can be relied on. */
async function writtenBefore(path: string, mark: string): Promise<Written | undefined> {
  try {
    const [{ size }, text] = await Promise.all([stat(path), readFile(mark, 'utf8')]);
    const { seq, bytes, cuts = 0 }: Partial<Written> = JSON.parse(text);
    return typeof seq === 'number' && bytes === size ? { seq, bytes, cuts } : undefined;
  } catch {
    return undefined;
  }
}
