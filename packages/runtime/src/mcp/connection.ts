import type { JsonObject } from '@groundcrew/protocol';
import {
  type CallToolResult,
  Client,
  type Progress,
  type Tool,
  type Transport,
} from '@modelcontextprotocol/client';

/** What a connection is made with. */
export interface ConnectionParts {
  readonly transport: Transport;
  readonly version: string;
  /** The server is known to take no probe of newer revisions. */
  readonly isOld: boolean;
  /** How long the handshake may take. */
  readonly milliseconds: number;
  toolsChanged(): void;
  promptsChanged(): void;
  resourcesChanged(): void;
  /** The session's directories, as URIs. */
  roots(): readonly { readonly uri: string; readonly name?: string }[];
}

/** What one call is made with. */
export interface CallOptions {
  readonly meta?: JsonObject | undefined;
  readonly milliseconds: number;
  readonly signal: AbortSignal;
  onProgress(progress: Progress): void;
}

/** A server that answers. */
export class McpConnection {
  /** Resolves when the connection has ended. */
  readonly ended: Promise<void>;

  private constructor(private readonly client: Client) {
    this.ended = new Promise((resolve) => {
      client.onclose = resolve;
    });
  }

  /** Rejects when the handshake fails. */
  static async open(parts: ConnectionParts, signal: AbortSignal): Promise<McpConnection> {
    const { transport, milliseconds } = parts;
    const client = new Client(
      { name: 'groundcrew', version: parts.version },
      {
        capabilities: { roots: { listChanged: true } },
        versionNegotiation: { mode: 'auto', probe: { timeoutMs: Math.min(probeMilliseconds, milliseconds) } },
        // A schema of a server may hold a pattern that never ends: nothing here checks results by it.
        jsonSchemaValidator: {
          getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined }),
        },
        listChanged: {
          tools: { autoRefresh: false, debounceMs: 0, onChanged: () => parts.toolsChanged() },
          prompts: { autoRefresh: false, debounceMs: 0, onChanged: () => parts.promptsChanged() },
          resources: { autoRefresh: false, debounceMs: 0, onChanged: () => parts.resourcesChanged() },
        },
        listMaxPages: mostPages,
      },
    );
    client.setRequestHandler('roots/list', async () => ({
      roots: parts.roots().map((root) => ({ ...root })),
    }));
    const stop = () => void client.close().catch(() => transport.close());
    signal.addEventListener('abort', stop, { once: true });
    try {
      signal.throwIfAborted();
      await client.connect(transport, {
        timeout: milliseconds,
        ...(parts.isOld && { prior: { kind: 'legacy' as const } }),
      });
      signal.throwIfAborted();
      return new McpConnection(client);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  get capabilities() {
    return this.client.getServerCapabilities() ?? {};
  }

  get protocolVersion(): string | undefined {
    return this.client.getNegotiatedProtocolVersion();
  }

  async tools(milliseconds: number): Promise<readonly Tool[]> {
    if (!this.capabilities.tools) return [];
    return (await this.client.listTools(undefined, { timeout: milliseconds, cacheMode: 'refresh' })).tools;
  }

  call(name: string, args: JsonObject, options: CallOptions): Promise<CallToolResult> {
    const { meta, milliseconds, signal, onProgress } = options;
    return this.client.callTool(
      { name, arguments: args as Record<string, unknown>, ...(meta && { _meta: { ...meta } }) },
      { signal, timeout: milliseconds, resetTimeoutOnProgress: true, onprogress: onProgress },
    );
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

/** Servers of old may never answer the probe; they are then greeted the old way. */
const probeMilliseconds = 3000;
const mostPages = 50;
