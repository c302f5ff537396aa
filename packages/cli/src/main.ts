import { readHeadless } from './arguments.js';
import { runHeadless } from './commands/headless.js';
import { endWith } from './failure.js';

declare const __VERSION__: string;

export { byUsualSettings } from './young-objects.js';

/** What it was used for; the code of that is kept for the next start. */
export const used = new Set<string>();

// What clients start: they wait for it, so it holds nothing else.
main(process.argv.slice(2)).catch(endWith);

async function main(argv: readonly string[]): Promise<void> {
  await runHeadless(readHeadless(argv), {
    environment: process.env,
    workingDirectory: process.cwd(),
    version: __VERSION__,
    used,
    announce: (line) => process.stdout.write(`${line}\n`),
    warn: (message) => process.stderr.write(`${message}\n`),
    exit: (code) => process.exit(code),
    onSignal: (handler) => {
      process.once('SIGTERM', handler);
      process.once('SIGINT', handler);
    },
  });
}
