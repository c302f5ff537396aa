import { spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { ToolFailure } from './tool.js';

/** What a search printed, as far as it was kept. */
export interface SearchOutput {
  readonly stdout: Buffer;
  /** It printed more than is kept and was ended. */
  readonly isCut: boolean;
}

/** More than this is no answer to a question. */
const mostBytes = 16 * 1024 * 1024;

/** Runs ripgrep, without anybody's settings and without our environment; throws ToolFailure with what it complains of. */
export function runRipgrep(
  parameters: readonly string[],
  workingDirectory: string,
  signal: AbortSignal,
): Promise<SearchOutput> {
  return new Promise((resolve, reject) => {
    const child = spawn(ripgrepPath(), ['--no-config', '--no-messages', ...parameters], {
      cwd: workingDirectory,
      env: { PATH: process.env.PATH, LANG: 'C.UTF-8' },
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    const stdout: Buffer[] = [];
    const complaints: Buffer[] = [];
    let bytes = 0;
    child.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > mostBytes) child.kill('SIGKILL');
      else stdout.push(chunk);
    });
    child.stderr.on('data', (chunk: Buffer) => {
      if (complaints.length < 16) complaints.push(chunk);
    });
    child.once('error', (error: NodeJS.ErrnoException) => reject(startFailure(error)));
    child.once('close', (code) => {
      const output = { stdout: Buffer.concat(stdout), isCut: bytes > mostBytes };
      // It also ends with 2, and with no complaint, when some file could not be read.
      const complaint = Buffer.concat(complaints).toString().trim();
      if (code !== 2 || complaint === '' || bytes > 0) resolve(output);
      else reject(new ToolFailure(`Error: ${complaint}`));
    });
  });
}

function startFailure(error: NodeJS.ErrnoException): Error {
  if (error.code !== 'ENOENT') return error;
  return new ToolFailure('Error: ripgrep (rg) was found neither in the installation nor on the PATH.');
}

/** The one that was installed with us, else the one on the PATH. */
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
