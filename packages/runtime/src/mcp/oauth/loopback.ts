import { timingSafeEqual } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What an authorisation server sent back with the browser. */
export interface Callback {
  readonly code: string;
  readonly issuer?: string;
}

/** Waits on this machine for the browser to come back from an authorisation server. */
export interface LoopbackRedirect {
  readonly url: string;
  readonly port: number;
  /** Resolves with what the browser brings; rejects when the log-in was denied, or the signal says so. */
  callback(signal: AbortSignal): Promise<Callback>;
  close(): void;
}

const path = '/callback';

/** Listens on the loopback address only, at a port of its own choice or at the wanted one while that is free. */
export async function listenForRedirect(options: {
  readonly port?: number | undefined;
  readonly state: string;
  readonly message: string;
}): Promise<LoopbackRedirect> {
  let settle: { resolve(value: Callback): void; reject(error: Error): void } | undefined;
  const arrived = new Promise<Callback>((resolve, reject) => {
    settle = { resolve, reject };
  });
  // It may be refused before any caller waits for it.
  arrived.catch(() => undefined);
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || url.pathname !== path)
      return page(response, 404, 'There is nothing here.');
    const { searchParams: said } = url;
    // A page that was not asked for cannot know the state.
    if (!isSame(said.get('state') ?? '', options.state))
      return page(response, 400, 'This log-in was not asked for.');
    const code = said.get('code');
    if (code === null || code === '') {
      page(response, 400, 'The log-in was denied.');
      settle?.reject(new Error(`the log-in was denied: ${(said.get('error') ?? 'no code').slice(0, 100)}`));
      return;
    }
    page(response, 200, options.message);
    const issuer = said.get('iss');
    settle?.resolve({ code, ...(issuer !== null && { issuer }) });
  });
  const port = await listen(server, options.port);
  return {
    port,
    url: `http://127.0.0.1:${port}${path}`,
    callback: (signal) => {
      const stop = () => settle?.reject(new Error('the log-in was not finished in time'));
      signal.addEventListener('abort', stop, { once: true });
      if (signal.aborted) stop();
      return arrived.finally(() => signal.removeEventListener('abort', stop));
    },
    close: () => {
      server.close();
      server.closeIdleConnections();
    },
  };
}

/** An address that was registered is kept while it is free: authorisation servers compare it letter by letter. */
async function listen(server: ReturnType<typeof createServer>, wanted = 0): Promise<number> {
  const attempt = (port: number) =>
    new Promise<number>((resolve, reject) => {
      server.once('error', reject);
      server.listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve((server.address() as AddressInfo).port);
      });
    });
  return wanted === 0 ? attempt(0) : attempt(wanted).catch(() => attempt(0));
}

function page(response: ServerResponse, status: number, text: string): void {
  const escaped = text.replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(`<!doctype html><title>Groundcrew</title><p>${escaped}</p>`);
}

function isSame(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}
