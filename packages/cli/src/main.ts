import { isHeadless, readHeadless, UsageError } from './arguments.js';
import { type Process, runHeadless } from './commands/headless.js';

declare const __VERSION__: string;

main(process.argv.slice(2)).catch((error: unknown) => {
  process.stderr.write(`groundcrew: ${explain(error)}\n`);
  process.exit(error instanceof UsageError ? 2 : 1);
});

async function main(argv: readonly string[]): Promise<void> {
  if (isHeadless(argv)) return runHeadless(readHeadless(argv), surroundings());
  const { runCommandLine } = await import('./command-line.js');
  const { flushed, processTerminal } = await import('./process-terminal.js');
  const code = await runCommandLine(argv, processTerminal(__VERSION__));
  await flushed();
  process.exit(code);
}

function surroundings(): Process {
  return {
    environment: process.env,
    workingDirectory: process.cwd(),
    version: __VERSION__,
    announce: (line) => process.stdout.write(`${line}\n`),
    warn: (message) => process.stderr.write(`${message}\n`),
    exit: (code) => process.exit(code),
    onSignal: (handler) => {
      process.once('SIGTERM', handler);
      process.once('SIGINT', handler);
    },
  };
}

/** Mistakes of the program are told with their place, everything else by its message. */
function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isMistake = [TypeError, ReferenceError, RangeError].some((kind) => error instanceof kind);
  return isMistake && error.stack ? error.stack : error.message;
}
