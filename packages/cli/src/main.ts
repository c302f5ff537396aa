import { runHeadless } from './commands/headless.js';
import { endWith } from './failure.js';
import { readHeadless } from './flags/headless-arguments.js';
import { startDirectory } from './terminal/working-directory.js';

declare const __VERSION__: string;

/** What it was used for; the code of that is kept for the next start. */
export const used = new Set<string>();

/**
 * What clients do over and over. The rest is compiled where it is asked for, in a millisecond or two: with all of it the
 * cache would be half as large again, and every start would read that.
 */
const worthKeeping: ReadonlySet<string> = new Set([
  'connect',
  'ping',
  'session.create',
  'session.destroy',
  'session.getMessages',
  'session.permissions.handlePendingPermissionRequest',
  'session.resume',
  'session.send',
  'session.tools.handlePendingToolCall',
]);

// What clients start: they wait for it, so it holds nothing else.
main(process.argv.slice(2)).catch(endWith);

async function main(argv: readonly string[]): Promise<void> {
  await runHeadless(readHeadless(argv), {
    environment: process.env,
    workingDirectory: startDirectory(),
    version: __VERSION__,
    used: { add: (method) => void (worthKeeping.has(method) && used.add(method)) },
    announce: (line) => process.stdout.write(`${line}\n`),
    warn: (message) => process.stderr.write(`${message}\n`),
    exit: (code) => process.exit(code),
    onSignal: (handler) => {
      process.once('SIGTERM', handler);
      process.once('SIGINT', handler);
    },
    onInputEnd: (handler) => {
      process.stdin.once('close', handler).resume();
    },
  });
}
