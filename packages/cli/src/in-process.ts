import type { Environment } from '@groundcrew/models';
import { type Channel, channelPair } from '@groundcrew/rpc';
import type { SandboxSettings } from '@groundcrew/runtime';
import { compose, type Program } from './compose.js';
import { homeDirectory } from './config/home.js';
import { chooseStore } from './config/store-choice.js';
import { telemetryFor } from './config/telemetry.js';

declare const __VERSION__: string;

/** How a runtime inside an app differs from the app itself. */
export interface InProcessOptions {
  /** Where sessions are kept; as for a runtime of its own unless given. */
  readonly homeDirectory?: string;
  /** Where sessions work unless they name a directory; the process's unless given. */
  readonly workingDirectory?: string;
  /** The process's own unless given. */
  readonly environment?: Environment;
  readonly gitHubToken?: string;
  /** Whether a token may be taken from the environment; true unless `gitHubToken` is given. */
  readonly useLoggedInUser?: boolean;
  /** Sessions idle for so many seconds are unloaded; 0, the default, means never. */
  readonly sessionIdleSeconds?: number;
  /** Where commands of sessions run that say nothing of it; the environment and the home's settings unless given. */
  readonly sandbox?: SandboxSettings;
  /** Hooks of files run in every session. */
  readonly fileHooks?: boolean;
  /** Where sessions are kept: an address of PostgreSQL, or `sqlite`; the environment and the home's settings unless given. */
  readonly store?: string;
  /** Called with what users should know; a process warning unless given. */
  readonly warn?: (message: string) => void;
}

/** A runtime in this process, and the one channel to it. */
export interface InProcessRuntime {
  readonly channel: Channel;
  /** Closes sessions and stores; running turns stay as pending work. May be called again. */
  close(): Promise<void>;
}

/** Opens a runtime in this process: no child, no socket, the same protocol. */
export async function openInProcess(options: InProcessOptions = {}): Promise<InProcessRuntime> {
  const program = await openProgram(options);
  const [channel, served] = channelPair();
  const serving = program.server.serve(served);
  let closing: Promise<void> | undefined;
  const close = async () => {
    await program.close();
    await channel.close();
    await serving;
  };
  return {
    channel,
    close: () => {
      closing ??= close();
      return closing;
    },
  };
}

/** The whole program in this process; clients on other channels must show the token, if there is one. */
export async function openProgram(
  options: InProcessOptions & { readonly connectionToken?: string } = {},
): Promise<Program> {
  const { environment = process.env, workingDirectory = process.cwd() } = options;
  const token = tokenFor(options, environment);
  const home = options.homeDirectory ?? homeDirectory(environment, { isHeadless: false });
  const store = await chooseStore({ given: options.store, environment, homeDirectory: home });
  const warn = options.warn ?? ((message: string) => process.emitWarning(message, 'GroundcrewWarning'));
  const secrets = [token?.value];
  const telemetry = await telemetryFor({ environment, version: __VERSION__, warn, secrets });
  return compose({
    telemetry,
    version: __VERSION__,
    homeDirectory: home,
    workingDirectory,
    environment,
    sessionIdleSeconds: options.sessionIdleSeconds ?? 0,
    warn,
    onShutdown: () => undefined,
    ...(token && { token }),
    ...(options.sandbox && { sandbox: options.sandbox }),
    ...(options.fileHooks && { fileHooks: true }),
    ...(store !== undefined && { store }),
    ...(options.connectionToken !== undefined && { connectionToken: options.connectionToken }),
  });
}

function tokenFor({ gitHubToken, useLoggedInUser }: InProcessOptions, environment: Environment) {
  if (gitHubToken !== undefined) return { value: gitHubToken, source: 'token' as const };
  const ambient = (useLoggedInUser ?? true) ? environment.GH_TOKEN || environment.GITHUB_TOKEN : undefined;
  return ambient ? { value: ambient, source: 'env' as const } : undefined;
}
