import type { JsonObject } from '@groundcrew/protocol';
import {
  type CallToolResult,
  Client,
  type ClientCapabilities,
  type CreateMessageRequestParams,
  type CreateMessageResult,
  type ElicitRequestParams,
  type ElicitResult,
  type Progress,
  type Prompt,
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
  readonly abilities: Abilities;
  /** Shows a form or a page to the user. */
  elicit(params: ElicitRequestParams, signal: AbortSignal): Promise<ElicitResult>;
  /** Asks the session's model, or a client in its place, on behalf of the server; `id` is that of its request. */
  sample(
    params: CreateMessageRequestParams,
    signal: AbortSignal,
    id: string | number,
  ): Promise<CreateMessageResult>;
  /** The session's directories, as URIs. */
  roots(): readonly { readonly uri: string; readonly name?: string }[];
}

/** What a server may ask of its client. */
export interface Abilities {
  /** Some client shows forms. */
  readonly forms: boolean;
  /** Some client shows apps of servers. */
  readonly apps: boolean;
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
        capabilities: capabilitiesOf(parts.abilities),
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
    client.setRequestHandler('sampling/createMessage', ({ params }, { mcpReq }) =>
      parts.sample(params, mcpReq.signal, mcpReq.id),
    );
    if (parts.abilities.forms)
      client.setRequestHandler('elicitation/create', ({ params }, { mcpReq }) =>
        parts.elicit(params, mcpReq.signal),
      );
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

  async resources(milliseconds: number) {
    if (!this.capabilities.resources) return [];
    return (await this.client.listResources(undefined, { timeout: milliseconds })).resources;
  }

  async resourceTemplates(milliseconds: number) {
    if (!this.capabilities.resources) return [];
    return (await this.client.listResourceTemplates(undefined, { timeout: milliseconds })).resourceTemplates;
  }

  async readResource(uri: string, milliseconds: number) {
    return (await this.client.readResource({ uri }, { timeout: milliseconds })).contents;
  }

  async prompts(milliseconds: number): Promise<readonly Prompt[]> {
    if (!this.capabilities.prompts) return [];
    return (await this.client.listPrompts(undefined, { timeout: milliseconds })).prompts;
  }

  prompt(name: string, args: Readonly<Record<string, string>>, milliseconds: number) {
    return this.client.getPrompt({ name, arguments: { ...args } }, { timeout: milliseconds });
  }

  /** The session works in other directories now. */
  rootsChanged(): Promise<void> {
    return this.client.sendRootsListChanged();
  }

  close(): Promise<void> {
    return this.client.close();
  }
}

function capabilitiesOf({ forms, apps }: Abilities): ClientCapabilities {
  const mimeTypes = ['text/html;profile=mcp-app'];
  return {
    roots: { listChanged: true },
    sampling: {},
    ...(forms && { elicitation: { form: {}, url: {} } }),
    ...(apps && { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes } } }),
  };
}

/** Servers of old may never answer the probe; they are then greeted the old way. */
const probeMilliseconds = 3000;
const mostPages = 50;
