import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { link, lstat, rename, rm } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { exitCodes, type StopSignal, type Terminal } from '../terminal/terminal.js';

/** A file cannot be written there. */
class CannotWrite extends Error {
  override readonly name = 'CannotWrite';
}

/**
 * Writes a new file that only its owner can read. It has its name once all of it is there, so what is broken off by Ctrl-C or a
 * full disk is never taken for the whole. Resolves with the exit code.
 */
export async function writeNewFile(
  name: string,
  content: Readable,
  terminal: Pick<Terminal, 'workingDirectory' | 'onStop'>,
): Promise<number> {
  const path = resolve(terminal.workingDirectory, name);
  const taken = new CannotWrite(`${path} is there already: name a new file`);
  if (await lstat(path).catch(() => undefined)) throw taken;
  const draft = `${path}.${randomUUID()}.tmp`;
  const stop = new AbortController();
  const received: StopSignal[] = [];
  const undo = terminal.onStop((signal) => {
    received.push(signal);
    stop.abort();
  });
  try {
    await pipeline(content, createWriteStream(draft, { flags: 'wx', mode: 0o600 }), { signal: stop.signal });
    await link(draft, path).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'EEXIST') throw taken;
      // Some file systems know no second name of a file.
      return rename(draft, path);
    });
    return exitCodes.done;
  } catch (error) {
    const [signal] = received;
    if (signal !== undefined) return exitCodes[signal];
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') throw new CannotWrite(`There is no directory ${dirname(path)}`);
    throw error;
  } finally {
    undo();
    await rm(draft, { force: true });
  }
}
