import { UsageError } from '../flags/arguments.js';
import type { Terminal } from '../terminal/terminal.js';

/** What is piped in, whole. */
export interface PipedTextOptions {
  /** Waits for the end even where there may be none. */
  readonly isRequired: boolean;
  /** Called after some silence with what the program waits for. */
  onSilence(): void;
}

/**
 * Reads all of stdin. A shell's pipe is read to its end; what other programs give their children may stay open
 * for ever, so it counts only if it begins to speak at once.
 */
export async function readPipedText(
  terminal: Pick<Terminal, 'input' | 'inputKind'>,
  options: PipedTextOptions,
): Promise<string> {
  if (terminal.inputKind === 'terminal' && !options.isRequired) return '';
  const { input } = terminal;
  const mayBeSilent = terminal.inputKind === 'socket' && !options.isRequired;
  const chunks: Buffer[] = [];
  let size = 0;
  const timer = setTimeout(
    () => (mayBeSilent ? release(input) : options.onSilence()),
    mayBeSilent ? graceMs : silenceMs,
  );
  try {
    for await (const chunk of input) {
      clearTimeout(timer);
      const bytes = Buffer.from(chunk);
      chunks.push(bytes);
      size += bytes.length;
      if (size > mostBytes)
        throw new UsageError(`More than ${mostBytes / mega} MB on stdin: that is no prompt`);
    }
  } catch (error) {
    if (!isReleased(error)) throw error;
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const mega = 1024 * 1024;
const mostBytes = 10 * mega;
const graceMs = 100;
const silenceMs = 2000;

/** Nothing came: the stream no longer keeps the program alive. */
function release(input: Terminal['input']): void {
  if ('destroy' in input && typeof input.destroy === 'function') input.destroy();
}

function isReleased(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ERR_STREAM_PREMATURE_CLOSE';
}
