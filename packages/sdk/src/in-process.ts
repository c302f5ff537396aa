import type { Channel } from '@groundcrew/rpc';
import type { ClientOptions } from './client-options.js';
import { notInstalled } from './find-runtime.js';
import { telemetryVariables } from './telemetry.js';

/** A runtime inside this process. */
export interface InProcessRuntime {
  readonly channel: Channel;
  /** Closes its sessions and stores; running turns stay as pending work. */
  close(): Promise<void>;
}

/** What `groundcrew/in-process` exports. */
interface InProcessModule {
  openInProcess(options: {
    readonly homeDirectory?: string;
    readonly workingDirectory?: string;
    readonly environment?: Readonly<Record<string, string | undefined>>;
    readonly gitHubToken?: string;
    readonly useLoggedInUser?: boolean;
    readonly sessionIdleSeconds?: number;
  }): Promise<InProcessRuntime>;
}

/** Loads the runtime when it is first needed: a client of another process needs none of it. */
export async function openInProcess(options: ClientOptions): Promise<InProcessRuntime> {
  const { baseDirectory, workingDirectory, gitHubToken, useLoggedInUser, sessionIdleTimeoutSeconds } =
    options;
  const { telemetry } = options;
  const env = telemetry ? { ...(options.env ?? process.env), ...telemetryVariables(telemetry) } : options.env;
  const { openInProcess: open } = await load();
  return open({
    ...(baseDirectory !== undefined && { homeDirectory: baseDirectory }),
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(env !== undefined && { environment: env }),
    ...(gitHubToken !== undefined && { gitHubToken }),
    ...(useLoggedInUser !== undefined && { useLoggedInUser }),
    ...(sessionIdleTimeoutSeconds !== undefined && { sessionIdleSeconds: sessionIdleTimeoutSeconds }),
  });
}

async function load(): Promise<InProcessModule> {
  const name: string = 'groundcrew/in-process'; // a text, so that no bundler takes the runtime along
  try {
    return (await import(name)) as InProcessModule;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    throw code === 'ERR_MODULE_NOT_FOUND' || code === 'ERR_PACKAGE_PATH_NOT_EXPORTED'
      ? notInstalled(error)
      : error;
  }
}
