import { Client, type ConnectionLost, type Reconnected, RuntimeConnection } from '@groundcrew/sdk';
import type { Config } from '../config/config.js';
import type { Log } from '../log/log.js';
import type { LocalClient } from '../sessions/local-client.js';
import type { Terminal } from '../terminal/terminal.js';
import { OwnRuntime } from './own-runtime.js';

/** Which runtime a client speaks with. */
export interface RuntimeChoice {
  readonly config: Config;
  /** The runtime that it attaches to; without one it starts its own. */
  readonly server?: { readonly url: string; readonly token?: string };
  /** Where commands run, if the command line says so. */
  readonly executor?: string;
  readonly log: Log;
}

/** A client of a runtime in another process: one that runs, or its own, which is started again when it is gone. */
export function openRuntimeClient(
  { config, log, server, executor }: RuntimeChoice,
  terminal: Terminal,
  watch: { onConnectionLost(lost: ConnectionLost): void; onReconnected(reconnected: Reconnected): void },
): LocalClient {
  const own = server ? undefined : new OwnRuntime({ config, terminal, log, ...(executor && { executor }) });
  const connection = own
    ? RuntimeConnection.forChannel(own.open)
    : RuntimeConnection.forUri(
        server?.url ?? '',
        server?.token === undefined ? {} : { connectionToken: server.token },
      );
  const client = new Client({
    connection,
    onConnectionLost: (lost) => watch.onConnectionLost(lost),
    onReconnected: (reconnected) => watch.onReconnected(reconnected),
    onWarning: (message) => log.write('warning', message),
    onHandlerError: ({ handler, name, error }) => {
      if (error.name === 'NoLongerAsked') return;
      log.write('error', `The ${handler} handler ${name} threw: ${error.message}`);
    },
  });
  const close = async () => {
    // Whoever leaves does not wait for a server that says nothing; what it has stays with it.
    const late = own ? undefined : setTimeout(() => void client.forceStop(), goodbyeMs);
    for (const error of await client.stop()) log.write('warning', error.message);
    clearTimeout(late);
    await own?.close();
  };
  return { client, close };
}

const goodbyeMs = 2_000;
