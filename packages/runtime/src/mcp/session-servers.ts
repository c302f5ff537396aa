import type { ModelAccess, SessionSettings } from '../settings/session-settings.js';
import { unknownNameWarnings } from '../settings/unknown-names.js';
import { ineffectiveParts, ineffectiveTimeout, readServerConfig } from './config.js';
import type { McpFiles } from './files.js';
import { gitHubServer, gitHubServerName } from './github-server.js';
import type { McpSettings } from './servers.js';

/** The servers of a session, and what of all that was said of them is wrong or has no effect. */
export interface SessionServers {
  readonly settings: McpSettings;
  readonly problems: readonly string[];
}

/** Puts together what clients, files and the runtime itself say; servers that clients name stand above those of files. */
export function sessionServers(
  settings: SessionSettings,
  { copilot }: ModelAccess,
  readFiles: McpFiles | undefined,
): SessionServers {
  const { mcpServers = {}, disabledMcpServers = [], envValueMode = 'direct' } = settings;
  const { workingDirectory, configDir, pluginDirectories, configDiscovery = false } = settings;
  const places = { workingDirectory, configDir, pluginDirectories, isDiscovering: configDiscovery };
  const files = readFiles?.(places);
  const { gitHubServer: wish } = settings;
  const described = [...(files?.servers ?? [])];
  const ofFiles = described.map(([name, { raw, source }]) => [name, readServerConfig(raw, source)] as const);
  const ofClients = Object.entries(mcpServers).map(([name, raw]) => [name, readServerConfig(raw)] as const);
  const own = wish && copilot && readServerConfig(gitHubServer(wish, copilot), 'builtin');
  const builtin = own ? [[gitHubServerName, own] as const] : [];
  const servers = new Map([...builtin, ...ofFiles, ...ofClients]);
  const known = [gitHubServerName, ...servers.keys(), ...serversOfAgents(settings)];
  return {
    settings: {
      servers,
      disabled: [...disabledMcpServers, ...(files?.disabled ?? [])],
      envValueMode,
    },
    problems: [
      ...(files?.problems ?? []).map((text) => `The MCP servers of a file are not there: ${text}`),
      ...(files?.warnings ?? []),
      ...(wish && Object.keys(wish).length > 0 && !copilot ? [noGitHubServer] : []),
      ...described.flatMap(([name, { raw }]) => ineffectiveParts(name, raw)),
      ...Object.entries(mcpServers).flatMap(([name, raw]) => ineffectiveTimeout(name, raw)),
      ...unknownNameWarnings('disabledMcpServers', disabledMcpServers, { known, what: 'server' }),
    ],
  };
}

/** The names of servers that agents bring along. */
function serversOfAgents({ customAgents = [] }: SessionSettings): readonly string[] {
  return customAgents.flatMap(({ mcpServers }) => Object.keys(mcpServers ?? {}));
}

const noGitHubServer =
  "The option 'githubMcpToolConfig' has no effect: the session's models are not those of GitHub, and neither is its server.";
