import { createHash } from 'node:crypto';
import type { PermissionRequest } from '../permissions/question.js';
import type { McpServerConfig } from './config.js';
import type { McpServer } from './server.js';

/** What the trust in a project is kept and asked with. */
export interface TrustParts {
  folder(): Promise<string>;
  /** The servers of a folder may start as they are described in this version. */
  mayStart(folder: string, version: string): boolean;
  letStart(folder: string, version: string): Promise<void>;
  servers(): readonly McpServer[];
  permit(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined>;
}

/** Servers of a project start once the user has let them: asked once for all of them, and again when they are others. */
export class WorkspaceTrust {
  private asking: Promise<string | undefined> | undefined;

  constructor(private readonly parts: TrustParts) {}

  /** Why a server may not be started; undefined when it may. */
  async mayStart({ source }: McpServerConfig, signal: AbortSignal): Promise<string | undefined> {
    if (source !== 'workspace') return undefined;
    const folder = await this.parts.folder();
    if (this.parts.mayStart(folder, this.version())) return undefined;
    this.asking ??= this.ask(folder, signal).finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async ask(folder: string, signal: AbortSignal): Promise<string | undefined> {
    const { permit, letStart } = this.parts;
    const version = this.version();
    const described = this.servers().map(({ name, config }) => {
      if (config.type === 'stdio') return { name, command: [config.command, ...config.args].join(' ') };
      return { name, url: config.type === 'invalid' ? '' : config.url };
    });
    const request: PermissionRequest = {
      kind: 'mcp',
      serverName: '.mcp.json',
      toolName: 'start',
      toolTitle: 'Start the MCP servers of this project',
      args: { folder, servers: described },
      readOnly: false,
    };
    const refusal = await permit(request, signal);
    if (refusal !== undefined) return `the servers of this project may not start: ${refusal}`;
    await letStart(folder, version);
    return undefined;
  }

  private servers(): readonly McpServer[] {
    return this.parts.servers().filter(({ config }) => config.source === 'workspace');
  }

  /** Another one when the file describes other servers. Values of variables are in it, and cannot be read out of it. */
  private version(): string {
    const described = this.servers().map(({ name, config }) => [name, config]);
    return createHash('sha256').update(JSON.stringify(described)).digest('hex').slice(0, 16);
  }
}
