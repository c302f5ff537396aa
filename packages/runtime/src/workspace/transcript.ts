import { appendFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import { absent } from './absent.js';
import { EventFile, type EventSink } from './event-file.js';
import type { Workspace } from './workspace.js';

/** The session's events as lines of JSON in its directory, for hooks that want to read what happened. */
export class Transcript {
  private readonly path: string;
  private readonly file: EventFile;
  private ready: Promise<void> | undefined;

  constructor(
    private readonly session: {
      readonly workspace: Workspace;
      readonly loadedState: { readonly removed: readonly unknown[] } | undefined;
      read(after?: number): AsyncIterable<readonly LogRecord[]>;
    },
  ) {
    const { directory } = session.workspace;
    this.path = join(directory, 'transcript.jsonl');
    const source = {
      cuts: () => session.loadedState?.removed.length ?? 0,
      read: (after?: number) => session.read(after),
    };
    this.file = new EventFile(source, join(directory, 'transcript.mark.json'), sinkAt(this.path));
  }

  /** Adds what happened since the last time, be it in another process. Returns the file's path. */
  async update(): Promise<string> {
    // Its directory is there once something was written, and hooks wait for this.
    this.ready ??= this.session.workspace.make();
    await this.ready;
    await this.file.update();
    return this.path;
  }
}

const privately = { mode: 0o600 };

function sinkAt(path: string): EventSink {
  return {
    size: async () => (await stat(path).catch(absent))?.size,
    begin: (text) => writeFile(path, text, privately),
    append: (text) => appendFile(path, text, privately),
  };
}
