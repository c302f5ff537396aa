import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A call as it came in, read whole. */
export interface Incoming {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** An HTTP server of this process that only this machine can reach. */
export class LocalServer {
  private constructor(private readonly server: Server) {}

  /** Serves calls; what the function throws is an answer of status 500, for the caller to see. */
  static async open(
    serve: (incoming: Incoming, response: ServerResponse) => Promise<void>,
  ): Promise<LocalServer> {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method = 'GET', url = '/', headers } = request;
        const text = Buffer.concat(chunks).toString();
        serve({ method, path: url, headers, text }, response).catch((error: unknown) => {
          const message = error instanceof Error ? error.message : String(error);
          if (response.headersSent) response.destroy();
          else sendJson(response, 500, { error: { message } });
        });
      });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new LocalServer(server);
  }

  get origin(): string {
    const { port } = this.server.address() as AddressInfo; // a server on a port has no other kind of address
    return `http://127.0.0.1:${port}`;
  }

  /** Ends all calls at once. */
  async close(): Promise<void> {
    if (!this.server.listening) return;
    const closed = once(this.server, 'close');
    this.server.close();
    this.server.closeAllConnections();
    await closed;
  }
}

/** An answer in one piece. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(text);
}

/** Begins a streamed answer and writes these events one after the other, so that no two are one by chance alone. */
export async function sendEvents(response: ServerResponse, events: readonly string[]): Promise<void> {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  response.flushHeaders();
  for (const event of events) {
    if (response.destroyed) return;
    await new Promise<void>((resolve) => response.write(event, () => resolve()));
  }
}

/** The header lines as pairs. */
export function headerPairs(headers: IncomingHttpHeaders): readonly (readonly [string, string])[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((each) => [name, each] as const),
  );
}
