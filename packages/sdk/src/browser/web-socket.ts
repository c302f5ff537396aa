import { type Channel, textChannel } from '@groundcrew/rpc';
import { GroundcrewError } from '../errors.js';

/** What is used of a browser's WebSocket. */
interface BrowserSocket {
  readonly bufferedAmount: number;
  readonly readyState: number;
  send(text: string): void;
  close(code?: number): void;
  addEventListener(type: string, listener: (event: { readonly data?: unknown }) => void): void;
}

/** Opens a WebSocket to the door of a server; a token is shown by its subprotocol. */
export async function openWebSocket(url: string, token: string | undefined): Promise<Channel> {
  const { WebSocket } = globalThis as unknown as {
    readonly WebSocket: new (url: string, protocols: readonly string[]) => BrowserSocket;
  };
  const protocols = ['groundcrew', ...(token === undefined ? [] : [`groundcrew.token.${base64url(token)}`])];
  const socket = new WebSocket(url, protocols);
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener('open', () => resolve());
    socket.addEventListener('error', () => undefined); // `close` follows
    // A browser says no more than that: neither why, nor whether there was an answer.
    const text = `No runtime answers at ${url}, or it refuses this page: check the address, the token and --allow-origin`;
    socket.addEventListener('close', () => reject(new GroundcrewError('start_failed', text)));
  });
  return channelOf(socket);
}

function channelOf(socket: BrowserSocket): Channel {
  const unsent: (() => void)[] = [];
  /** Browsers do not say when something has left, only how much has not. */
  const look = () => {
    if (socket.bufferedAmount > 0 && socket.readyState === isOpen)
      return void setTimeout(look, lookMilliseconds);
    for (const left of unsent.splice(0)) left();
  };
  return textChannel({
    send: (text, left) => {
      socket.send(text);
      if (unsent.push(left) === 1) queueMicrotask(look);
    },
    close: () => socket.close(1000),
    terminate: () => socket.close(),
    listen: ({ receive, refuse, end }) => {
      socket.addEventListener('message', ({ data }) => (typeof data === 'string' ? receive(data) : refuse()));
      socket.addEventListener('close', end);
    },
  });
}

const isOpen = 1;
const lookMilliseconds = 10;

function base64url(text: string): string {
  const binary = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
