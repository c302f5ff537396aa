import { appendFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LogRecord } from '@groundcrew/store';
import type { Workspace } from '../workspace/workspace.js';

/** The session's events as lines of JSON in its directory, for hooks that want to read what happened. */
export class Transcript {
  private written = 0;

  constructor(
    private readonly session: {
      readonly workspace: Workspace;
      read(after?: number): AsyncIterable<readonly LogRecord[]>;
    },
  ) {}

  /** Adds what happened since the last time; the first time in a process the file is written anew. Returns its path. */
  async update(): Promise<string> {
    const { workspace } = this.session;
    const path = join(workspace.directory, 'transcript.jsonl');
    await workspace.make();
    const lines: string[] = [];
    let seq = this.written;
    for await (const batch of this.session.read(this.written)) {
      for (const record of batch) {
        seq = record.seq;
        if (record.isPublic) lines.push(record.json);
      }
    }
    const text = lines.map((line) => `${line}\n`).join('');
    const options = { mode: 0o600 };
    if (this.written === 0) await writeFile(path, text, options);
    else await appendFile(path, text, options);
    this.written = seq;
    return path;
  }
}
