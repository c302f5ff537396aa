import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import { absent } from './absent.js';
import { appendText, EventFile, type EventSink, writeText } from './event-file.js';
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

function sinkAt(path: string): EventSink {
  return {
    size: async () => (await stat(path).catch(absent))?.size,
    begin: (text) => writeText(path, text),
    append: (text) => appendText(path, text),
  };
}
