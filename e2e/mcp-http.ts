import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** Listens on a free port of this machine; the server is closed after the test. */
export async function listen(server: Server): Promise<number> {
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Answers one request, whose body was read. */
export type Answer = (request: IncomingMessage, body: string, response: ServerResponse) => void;

/** A server over HTTP that answers so; its address. */
export async function http(answer: Answer): Promise<string> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    answer(request, Buffer.concat(chunks).toString(), response);
  });
  return `http://127.0.0.1:${await listen(server)}/mcp`;
}

/** A server over HTTP that works; `before` may answer instead. */
export function working(
  before: (request: IncomingMessage, method: string, response: ServerResponse) => boolean,
): Answer {
  return (request, body, response) => {
    const { id, method = '', params } = JSON.parse(body || '{}');
    if (before(request, method, response)) return;
    if (request.method !== 'POST') return void response.writeHead(405).end();
    if (id === undefined) return void response.writeHead(202).end();
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: params?.protocolVersion ?? '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'http', version: '1' },
      },
      'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: 'looked' }] },
    };
    const result = results[method];
    const reply = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
  };
}
