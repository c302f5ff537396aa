import { RuntimeConnection } from '@groundcrew/sdk';
import type { Log } from '../log/log.js';
import { type LocalClient, loggedClient } from './local-client.js';

/** A client of a runtime that runs already; it is left running. */
export async function openServerClient(
  { url, token }: { readonly url: string; readonly token?: string },
  log: Log,
): Promise<LocalClient> {
  const options = token === undefined ? {} : { connectionToken: token };
  return loggedClient(
    {
      connection: RuntimeConnection.forUri(url, options),
      onConnectionLost: ({ error, willReconnect }) =>
        log.write('warning', `${error.message}${willReconnect ? '; trying again' : ''}`),
    },
    log,
  );
}
