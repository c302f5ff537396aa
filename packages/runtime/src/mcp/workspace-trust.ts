import type { PermissionRequest } from '../permissions/question.js';
import type { McpServerConfig } from './config.js';
import type { McpServer } from './server.js';

/** What the trust in a project is kept and asked with. */
export interface TrustParts {
  folder(): Promise<string>;
  isTrusted(folder: string): boolean;
  trust(folder: string): Promise<void>;
  servers(): readonly McpServer[];
  permit(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined>;
}

/** Servers of a project start once the user trusts its folder: asked once for all of them, and kept. */
export class WorkspaceTrust {
  private asking: Promise<string | undefined> | undefined;

  constructor(private readonly parts: TrustParts) {}

  /** Why a server may not be started; undefined when it may. */
  async mayStart({ source }: McpServerConfig, signal: AbortSignal): Promise<string | undefined> {
    if (source !== 'workspace') return undefined;
    const folder = await this.parts.folder();
    if (this.parts.isTrusted(folder)) return undefined;
    this.asking ??= this.ask(folder, signal).finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async ask(folder: string, signal: AbortSignal): Promise<string | undefined> {
    const { servers, permit, trust } = this.parts;
    const ofProject = servers().filter(({ config }) => config.source === 'workspace');
    const described = ofProject.map(({ name, config }) => {
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
    await trust(folder);
    return undefined;
  }
}
