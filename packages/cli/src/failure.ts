import { closeSync } from 'node:fs';
import { UnknownOption, UsageError } from './flags/arguments.js';

/** As a shell counts an end by SIGPIPE. */
const hasNoReader = 141;

/** Ends the program with the reason: mistakes of its own with their place, everything else by its message. */
export function endWith(error: unknown): void {
  if (error instanceof Error && 'code' in error && error.code === 'EPIPE') process.exit(hasNoReader);
  const isUnknownOption = error instanceof UnknownOption;
  stopReading();
  process.stderr.write(isUnknownOption ? `${error.message}\n` : `groundcrew: ${explain(error)}\n`);
  process.exit(error instanceof UsageError && !isUnknownOption ? 2 : 1);
}

/** A client that still writes learns that no process reads, and does not wait for an answer. */
function stopReading(): void {
  try {
    closeSync(0);
  } catch {
    // It was closed before.
  }
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isMistake = [TypeError, ReferenceError, RangeError].some((kind) => error instanceof kind);
  return isMistake && error.stack ? error.stack : error.message;
}
