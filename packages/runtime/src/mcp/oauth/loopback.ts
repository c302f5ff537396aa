import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { AwaitedCallback, type Redirect, readCallback } from './redirect.js';

const path = '/callback';

/** Waits on this machine for the browser: listens on the loopback address only, at a port of its own choice or at the wanted one while that is free. */
export async function listenForRedirect(options: {
  readonly port?: number | undefined;
  readonly state: string;
  readonly message: string;
}): Promise<Redirect> {
  const awaited = new AwaitedCallback();
  const server = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 10_000 }, (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (request.method !== 'GET' || url.pathname !== path)
      return page(response, 404, 'There is nothing here.');
    const read = readCallback(url.searchParams, options.state);
    if (read === undefined) return page(response, 400, 'This log-in was not asked for.');
    if (read instanceof Error) page(response, 400, 'The log-in was denied.');
    else page(response, 200, options.message);
    awaited.take(read);
  });
  const port = await listen(server, options.port);
  return {
    port,
    url: `http://127.0.0.1:${port}${path}`,
    callback: (signal) => awaited.wait(signal),
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
