import { randomUUID } from 'node:crypto';
import {
  createMcpHandler,
  isLegacyRequest,
  type McpServer,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { EventPages } from './event-pages.js';

/** Makes the server that one host speaks with. */
export type McpFactory = () => McpServer;

/** MCP over streamable HTTP, request by request. */
export interface McpWeb {
  answer(request: Request): Promise<Response>;
  close(): Promise<void>;
}

const mostHosts = 64;
const idleMilliseconds = 30 * 60_000;

interface Host {
  readonly server: McpServer;
  readonly transport: WebStandardStreamableHTTPServerTransport;
  usedAt: number;
}

/** Speaks every revision: the newest without state, those before it with a session for each host. */
export function mcpOverHttp(factory: McpFactory): McpWeb {
  const modern = createMcpHandler(factory, { legacy: 'reject' });
  const hosts = new Hosts(factory);
  return {
    answer: async (request) => {
      const isOld = await isLegacyRequest(request.clone());
      return isOld ? hosts.answer(request) : modern.fetch(request);
    },
    close: async () => {
      await hosts.close();
      await modern.close();
    },
  };
}

/** Hosts of revisions that have sessions. One that has not sent anything for long is dropped. */
class Hosts {
  private readonly hosts = new Map<string, Host>();
  private readonly sweep = setInterval(() => this.leaveIdle(), 60_000).unref();

  constructor(private readonly factory: McpFactory) {}

  async answer(request: Request): Promise<Response> {
    const id = request.headers.get('mcp-session-id');
    const known = id === null ? undefined : this.hosts.get(id);
    if (known) {
      known.usedAt = Date.now();
      return known.transport.handleRequest(request);
    }
    // By this answer a host knows that it has to begin anew.
    if (id !== null) return failure(404, -32_001, 'Session not found');
    if (this.hosts.size >= mostHosts && !this.leaveIdlest()) return failure(503, -32_000, 'Too many hosts');
    return this.greet(request);
  }

  async close(): Promise<void> {
    clearInterval(this.sweep);
    await Promise.all([...this.hosts.keys()].map((id) => this.leave(id)));
  }

  private async greet(request: Request): Promise<Response> {
    const server = this.factory();
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      eventStore: new EventPages(),
      retryInterval: 1000,
      onsessioninitialized: (id) => void this.hosts.set(id, { server, transport, usedAt: Date.now() }),
      onsessionclosed: (id) => void this.leave(id),
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    // What was no greeting has made no session.
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  private leaveIdle(): void {
    for (const [id, { usedAt }] of this.hosts)
      if (Date.now() - usedAt > idleMilliseconds) void this.leave(id);
  }

  /** Makes room for a new host; those that sent something within a minute stay. */
  private leaveIdlest(): boolean {
    const [oldest] = [...this.hosts].sort(([, one], [, other]) => one.usedAt - other.usedAt);
    if (!oldest || Date.now() - oldest[1].usedAt < 60_000) return false;
    void this.leave(oldest[0]);
    return true;
  }

  private async leave(id: string): Promise<void> {
    const host = this.hosts.get(id);
    this.hosts.delete(id);
    await host?.server.close();
  }
}

function failure(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status });
}
