import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, constants, openSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isAbsent } from '../../workspace/absent.js';

/** Both ends of a pipe that no other process can reach. */
export interface Pipe {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/**
 * Real pipes for the output of commands. Those that Node makes are sockets: two of them lose the order of what is
 * written to both, and `> /dev/stderr` fails on them.
 */
export class PipePool {
  private names: string[] = [];
  private filling: Promise<void> | undefined;

  constructor(private readonly directory: () => string) {}

  /** A fresh pipe; its name is gone before another process could use it. */
  async take(): Promise<Pipe> {
    // Others may take what was made, or empty the directory: then more is made.
    for (let attempt = 0; attempt < mostAttempts; attempt++) {
      while (this.names.length > 0) {
        const pipe = this.open();
        if (!pipe) continue;
        if (this.names.length < lowMark) this.fill().catch(retriedByNextTake);
        return pipe;
      }
      await this.fill();
    }
    throw new Error(`Cannot make pipes in ${this.directory()}`);
  }

  /** Makes what the first command will need. */
  async fill(): Promise<void> {
    this.filling ??= this.makePipes().finally(() => {
      this.filling = undefined;
    });
    return this.filling;
  }

  private async makePipes(): Promise<void> {
    const made = Array.from({ length: batch }, () => join(this.directory(), randomUUID()));
    await promisify(execFile)('mkfifo', ['-m', '600', ...made]);
    this.names.push(...made);
  }

  private open(): Pipe | undefined {
    const name = this.names.pop();
    if (name === undefined) return undefined;
    const readEnd = openIfThere(name);
    if (readEnd === undefined) return undefined;
    try {
      // There is a reader, so this does not wait; the children write to it, and they expect writing to wait.
      const writeEnd = openSync(name, constants.O_WRONLY);
      unlinkSync(name);
      return { readEnd, writeEnd };
    } catch (error) {
      closeSync(readEnd);
      throw error;
    }
  }
}

const batch = 16;
const lowMark = 4;
const mostAttempts = 1000;

function openIfThere(name: string): number | undefined {
  try {
    return openSync(name, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** The pool was filled ahead of need; a caller that finds none gets the reason. */
const retriedByNextTake = (): undefined => undefined;
