import { Client, RuntimeConnection } from '@groundcrew/sdk';
import { NoUserError } from '../dialogue/dialogue.js';
import type { Log } from '../log/log.js';
import type { LocalClient } from './local-client.js';

/** A client of a runtime that runs already; it is left running. */
export async function openServerClient(
  { url, token }: { readonly url: string; readonly token?: string },
  log: Log,
): Promise<LocalClient> {
  const client = new Client({
    connection: RuntimeConnection.forUri(url, token === undefined ? {} : { connectionToken: token }),
    onConnectionLost: ({ error, willReconnect }) =>
      log.write('warning', `${error.message}${willReconnect ? '; trying again' : ''}`),
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
