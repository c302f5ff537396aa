import { Client, RuntimeConnection } from '@groundcrew/sdk/browser';
import { decoded } from './format.js';

/** The token behind the `#` of the address, where it is not the address of a session: that begins with a slash. */
export function tokenInAddress(): string {
  return location.hash.startsWith('#/') ? '' : decoded(location.hash.replace(/^#(?:token=)?/, ''));
}

/** Exchanges the token in the address for a cookie, and takes it out of the address. False when there is none that counts. */
export async function enter(): Promise<boolean> {
  const token = tokenInAddress();
  if (token !== '') {
    history.replaceState(null, '', '/');
    // No server has another token, and fetch throws for what no header carries.
    if (!/^[!-~]+$/.test(token)) return false;
    const answer = await fetch('/enter', { method: 'POST', headers: { authorization: `Bearer ${token}` } });
    return answer.ok;
  }
  return (await fetch('/known')).ok;
}

/** Whether the server is there and takes the cookie for nothing: it has another token by now. */
export async function isShutOut(): Promise<boolean> {
  const answer = await fetch('/known').catch(() => undefined);
  return answer?.status === 401;
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
