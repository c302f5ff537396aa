import { type McpServer, RequestError } from '@agentclientprotocol/sdk';
import type { McpServerConfig } from '@groundcrew/sdk';

/** The MCP servers that an editor passes on, as sessions are given them. Throws RequestError. */
export function mcpServersOf(servers: readonly McpServer[]): Readonly<Record<string, McpServerConfig>> {
  const named = new Map<string, McpServerConfig>();
  for (const server of servers) {
    if (named.has(server.name))
      throw RequestError.invalidParams(undefined, `two MCP servers are named ${server.name}`);
    named.set(server.name, configOf(server));
  }
  return Object.fromEntries(named);
}

function configOf(server: McpServer): McpServerConfig {
  if ('type' in server) {
    const { type, url, headers } = server;
    return { type, url, headers: pairs(headers) };
  }
  const { command, args, env } = server;
  return { type: 'stdio', command, args, env: pairs(env) };
}

function pairs(list: readonly { readonly name: string; readonly value: string }[]): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}
