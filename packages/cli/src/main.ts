import { readArguments, UsageError } from './arguments.js';
import { type Process, runHeadless } from './commands/headless.js';

declare const __VERSION__: string;

const help = `groundcrew: an agent-session runtime

  groundcrew --headless [--stdio | --port N]   serve clients of the session protocol
  groundcrew --version

In headless mode:
  --stdio                     talk on stdin and stdout
  --port N                    listen on this port of the loopback interface; any free one without
  --log-level LEVEL           none, error, warning, info, debug or all
  --auth-token-env NAME       take the GitHub token from this variable
  --no-auto-login             use no other token
  --session-idle-timeout S    unload sessions that are idle for so many seconds
`;

const surroundings: Process = {
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

async function main(argv: readonly string[]): Promise<void> {
  const invocation = readArguments(argv);
  switch (invocation.type) {
    case 'headless':
      return runHeadless(invocation, surroundings);
    case 'version':
      process.stdout.write(`${__VERSION__}\n`);
      return;
    case 'help':
      process.stdout.write(help);
      return;
  }
}

main(process.argv.slice(2)).catch((error: unknown) => {
  const isUsage = error instanceof UsageError;
  const text =
    error instanceof Error && !isUsage ? (error.stack ?? error.message) : String((error as Error).message);
  process.stderr.write(`groundcrew: ${text}\n`);
  process.exitCode = isUsage ? 2 : 1;
});
