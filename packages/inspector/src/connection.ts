import { Client, RuntimeConnection } from '@groundcrew/sdk/browser';
import { decoded } from './format.js';

/** Exchanges the token in the address for a cookie, and takes it out of the address. False when there is none that counts. */
export async function enter(): Promise<boolean> {
  const token = decoded(location.hash.replace(/^#(?:token=)?/, ''));
  if (token !== '' && !token.startsWith('/')) {
    history.replaceState(null, '', '/');
    // No server has another token, and fetch throws for what no header carries.
    if (!/^[!-~]+$/.test(token)) return false;
    const answer = await fetch('/enter', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    return answer.ok;
  }
  return (await fetch('/known')).ok;
}

/** The way to the runtime: the same door the page came through, shown the cookie. */
export function openClient(onConnection: (isThere: boolean) => void): Client {
  const url = `${location.origin.replace(/^http/, 'ws')}/rpc`;
  return new Client({
    connection: RuntimeConnection.forWebSocket(url),
    reconnectTimeout: 24 * 60 * 60 * 1000,
    onConnectionLost: () => onConnection(false),
    onReconnected: () => onConnection(true),
    onHandlerError: () => undefined,
  });
}
