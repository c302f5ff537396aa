import { Client, type ClientOptions, RuntimeConnection } from '@groundcrew/sdk';
import type { Config } from '../config/config.js';
import { NoUserError } from '../dialogue/dialogue.js';
import { openInProcess } from '../in-process.js';
import type { Log } from '../log/log.js';
import { loggedChannel } from '../log/logged-channel.js';
import type { Terminal } from '../terminal/terminal.js';

/** A client of a runtime in this process: the commands are apps like any other. */
export interface LocalClient {
  readonly client: Client;
  /** Leaves all sessions, which stay stored, and closes the runtime. */
  close(): Promise<void>;
}

/** Starts the runtime. The log receives its warnings and, at `debug`, every message to and from it. */
export async function openLocalClient(config: Config, terminal: Terminal, log: Log): Promise<LocalClient> {
  const runtime = await openInProcess({
    homeDirectory: config.homeDirectory,
    workingDirectory: terminal.workingDirectory,
    environment: terminal.environment,
    sessionIdleSeconds: config.sessionIdleSeconds,
    warn: (message) => log.write('warning', message),
    ...(config.sandbox && { sandbox: config.sandbox }),
    ...(config.fileHooks && { fileHooks: true }),
    ...(config.store !== undefined && { store: config.store }),
  });
  const connection = RuntimeConnection.forChannel(() => loggedChannel(runtime.channel, log));
  const local = loggedClient({ connection }, log);
  const close = async () => {
    await local.close();
    await runtime.close();
  };
  return { ...local, close };
}

/** A client that writes to the log what its app does not handle. */
export function loggedClient(options: ClientOptions, log: Log): LocalClient {
  const client = new Client({
    ...options,
    onWarning: (message) => log.write('warning', message),
    onHandlerError: ({ handler, name, error }) => {
      if (error instanceof NoUserError) return;
      log.write('error', `The ${handler} handler ${name} threw: ${error.message}`);
    },
  });
  const close = async () => {
    for (const error of await client.stop()) log.write('warning', error.message);
  };
  return { client, close };
}
