import { listenTcp, stdioChannel } from '@groundcrew/rpc';
import type { HeadlessArguments } from '../arguments.js';
import { compose, type Program, type ProgramOptions } from '../compose.js';
import { type Environment, homeDirectory } from '../home.js';

/** What the process gives the command. */
export interface Process {
  readonly environment: Environment;
  readonly workingDirectory: string;
  readonly version: string;
  /** A line for whoever started the program. */
  announce(line: string): void;
  warn(message: string): void;
  exit(code: number): void;
  onSignal(handler: () => void): void;
}

/** A client so far behind gets its deltas merged; up to there it has every one of them. */
const channelOptions = { highWaterMark: 8 * 1024 * 1024 };

/** Serves clients on stdio or a port until they are done with it. */
export async function runHeadless(flags: HeadlessArguments, process: Process): Promise<void> {
  for (const warning of flags.warnings) process.warn(warning);
  const ending = new Ending(process);
  const program = compose(optionsFrom(flags, process, ending));
  ending.program = program;
  process.onSignal(() => void ending.end(0));
  if (flags.port === undefined) {
    setImmediate(() => program.warmUp());
    await program.server.serve(stdioChannel({}, channelOptions));
    await ending.end(0);
    return;
  }
  await listen(flags.port, program, process);
  program.warmUp();
}

async function listen(port: number, program: Program, process: Process): Promise<void> {
  try {
    const listener = await listenTcp({
      port,
      channel: channelOptions,
      onChannel: (channel) => void program.server.serve(channel),
    });
    if (!process.environment.COPILOT_CONNECTION_TOKEN) {
      process.warn(
        'No connection token is set: every program on this machine may connect. Set COPILOT_CONNECTION_TOKEN to ask for one.',
      );
    }
    process.announce(`CLI server listening on port ${listener.port}`);
  } catch (error) {
    process.warn(`Failed to start server: Error: ${startFailure(error, port)}`);
    process.exit(1);
  }
}

/** Ends the program once, however many reasons there are. */
class Ending {
  program: Program | undefined;
  private ending: Promise<void> | undefined;

  constructor(private readonly process: Process) {}

  end(code: number): Promise<void> {
    this.ending ??= (async () => {
      await this.program?.close();
      this.process.exit(code);
    })();
    return this.ending;
  }
}

function optionsFrom(flags: HeadlessArguments, process: Process, ending: Ending): ProgramOptions {
  const { environment } = process;
  const token = tokenFrom(flags, environment);
  const connectionToken = flags.port === undefined ? undefined : environment.COPILOT_CONNECTION_TOKEN;
  return {
    version: process.version,
    homeDirectory: homeDirectory(environment, { isHeadless: true }),
    workingDirectory: process.workingDirectory,
    environment,
    sessionIdleSeconds: flags.sessionIdleSeconds,
    warn: (message) => process.warn(message),
    onShutDown: () => void ending.end(0),
    ...(token && { token }),
    ...(connectionToken && { connectionToken }),
  };
}

function tokenFrom(flags: HeadlessArguments, environment: Environment): ProgramOptions['token'] {
  const given = flags.authTokenEnv === undefined ? undefined : environment[flags.authTokenEnv];
  if (given) return { value: given, source: 'token' };
  const ambient = flags.mayLogIn ? environment.GH_TOKEN || environment.GITHUB_TOKEN : undefined;
  return ambient ? { value: ambient, source: 'env' } : undefined;
}

function startFailure(error: unknown, port: number): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return `Address already in use (os error 98): port ${port}. Choose another, or leave --port out.`;
  return error instanceof Error ? error.message : String(error);
}
