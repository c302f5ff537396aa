import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { onTestFinished } from 'vitest';
import type { ModelEvent, ModelProvider, ModelRequest } from '../src/model.js';

/** What a server was asked. */
export interface Asked {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface LocalServer {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
}

type Answer = (response: Parameters<RequestListener>[1], asked: Asked) => void;

/** A real server on loopback that lives as long as the test. */
export async function localServer(
  answer: Answer,
  tls?: { readonly key: Buffer; readonly cert: Buffer },
): Promise<LocalServer> {
  const asked: Asked[] = [];
  const listener: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      const one = { method, url, headers, body: Buffer.concat(chunks).toString() };
      asked.push(one);
      answer(response, one);
    });
  };
  const server = tls ? createTlsServer(tls, listener) : createServer(listener);
  const port = await listening(server);
  return { url: `http://127.0.0.1:${port}`, port, asked };
}

/** A real proxy that leads every tunnel and every plain request to one port, and notes where they wanted to go. */
export async function localProxy(port: number, status = 200): Promise<LocalServer> {
  const proxy = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, headers, body: '' });
    request.resume();
    response.end(JSON.stringify({ choices: [] }));
  });
  const asked: Asked[] = [];
  proxy.on('connect', (request, client) => {
    const { method = '', url = '', headers } = request;
    asked.push({ method, url, headers, body: '' });
    if (status !== 200) return client.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      upstream.pipe(client).pipe(upstream);
    });
    upstream.on('error', () => client.destroy());
    client.on('error', () => upstream.destroy());
    return undefined;
  });
  const proxyPort = await listening(proxy);
  return { url: `http://127.0.0.1:${proxyPort}`, port: proxyPort, asked };
}

export const plainRequest: ModelRequest = {
  model: 'tiny',
  system: 'Be brief.',
  messages: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  stream: false,
};

/** Everything a stream yields, in one list. */
export async function all<T>(stream: AsyncIterable<T>): Promise<readonly T[]> {
  const items: T[] = [];
  for await (const item of stream) items.push(item);
  return items;
}

/** All events of an answer, in one list. */
export async function collect(
  provider: ModelProvider,
  request: ModelRequest = plainRequest,
  signal: AbortSignal = new AbortController().signal,
): Promise<readonly ModelEvent[]> {
  return (await all(provider.stream(request, signal))).flat();
}

export const noUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
};

async function listening(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
