import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, unlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventLoopTurn } from '../event-loop-turn.js';
import { Slots } from '../slots.js';
import { ToolFailure } from './tool.js';

/** What a search printed, as far as it was kept. */
export interface SearchOutput {
  readonly stdout: Buffer;
  /** It printed more than is kept and was ended. */
  readonly isCut: boolean;
}

/** More than this is no answer to a question. */
const mostBytes = 4 * 1024 * 1024;

/** How often that is looked at. */
const watchMilliseconds = 10;

/** Each search may use every processor, and a message may ask for hundreds: more of them at once would leave the runtime none. */
const places = new Slots(() => Math.max(2, availableParallelism()));

/** The ripgrep that was installed with us, else the one on the PATH; looked for once. */
export class Ripgrep {
  private program: string | undefined;

  /**
   * Runs without settings of users and without our environment, with these files open from number 3 on; throws ToolFailure
   * with what it complains of.
   */
  async run(
    parameters: readonly string[],
    where: { readonly workingDirectory: string; readonly open?: readonly number[] },
    signal: AbortSignal,
  ): Promise<SearchOutput> {
    this.program ??= ripgrepPath();
    const leave = await places.take(signal);
    try {
      // A process takes a while to start.
      await eventLoopTurn();
      return await this.search(this.program, parameters, { ...where, signal });
    } finally {
      leave();
    }
  }

  private async search(
    program: string,
    parameters: readonly string[],
    where: {
      readonly workingDirectory: string;
      readonly open?: readonly number[];
      readonly signal: AbortSignal;
    },
  ): Promise<SearchOutput> {
    const file = nameless();
    try {
      const child = spawn(program, ['--no-config', '--no-messages', ...parameters], {
        cwd: where.workingDirectory,
        env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
        stdio: ['ignore', file, 'pipe', ...(where.open ?? [])],
        signal: where.signal,
        killSignal: 'SIGKILL',
      });
      return await outputOf(child, file);
    } finally {
      closeSync(file);
    }
  }
}

/**
 * A file for the output, without a name as soon as it is open. Reading a pipe while a search runs on all processors
 * takes one of them away from it each time there is something to read.
 */
function nameless(): number {
  const path = join(tmpdir(), `groundcrew-search-${randomUUID()}`);
  const file = openSync(path, 'wx+', 0o600);
  unlinkSync(path);
  return file;
}

/** Ends the search when there is more than is kept. */
function outputOf(child: ChildProcess, file: number): Promise<SearchOutput> {
  const complaints: Buffer[] = [];
  const watching = setInterval(() => {
    if (fstatSync(file).size > mostBytes) child.kill('SIGKILL');
  }, watchMilliseconds);
  child.stderr?.on('data', (chunk: Buffer) => {
    if (complaints.length < 16) complaints.push(chunk);
  });
  return new Promise<SearchOutput>((resolve, reject) => {
    let isGivenUp = false;
    child.once('error', (error: NodeJS.ErrnoException) => {
      isGivenUp = true;
      reject(startFailure(error));
    });
    child.once('close', (code) => {
      if (isGivenUp) return;
      const { size } = fstatSync(file);
      // It also ends with 2, and with no complaint, when some file could not be read.
      const complaint = Buffer.concat(complaints).toString().trim();
      if (code === 2 && complaint !== '' && size === 0) reject(new ToolFailure(`Error: ${complaint}`));
      else if (size <= mostBytes) resolve({ stdout: readStart(file, size), isCut: false });
      else resolve({ stdout: wholeLines(readStart(file, mostBytes)), isCut: true });
    });
  }).finally(() => clearInterval(watching));
}

/** Without the beginning of a line, or of a name, that was cut off. */
function wholeLines(bytes: Buffer): Buffer {
  const end = bytes.lastIndexOf('\n');
  return bytes.subarray(0, (end < 0 ? bytes.lastIndexOf('\0') : end) + 1);
}

function readStart(file: number, size: number): Buffer {
  const bytes = Buffer.allocUnsafe(size);
  let read = 0;
  while (read < size) {
    const count = readSync(file, bytes, read, size - read, read);
    if (count === 0) break;
    read += count;
  }
  return bytes.subarray(0, read);
}

function startFailure(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOENT') return error;
  return new ToolFailure('Error: ripgrep (rg) was found neither in the installation nor on the PATH.');
}

function ripgrepPath(): string {
  const binary = process.platform === 'win32' ? 'rg.exe' : 'rg';
  try {
    const require = createRequire(import.meta.filename);
    const entry = require.resolve('@vscode/ripgrep');
    return createRequire(entry).resolve(`@vscode/ripgrep-${process.platform}-${process.arch}/bin/${binary}`);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND') return binary;
    throw error;
  }
}
