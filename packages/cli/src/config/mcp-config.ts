import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { McpConfig } from '@groundcrew/server';
import { withFileLock } from '@groundcrew/store-sqlite';
import { mcpFiles, mcpPath, readMcpFile, writeMcpFile } from './mcp-file.js';

/** The user's file of MCP servers, as methods and commands change it. */
export function mcpConfig(
  homeDirectory: string,
  environment: Readonly<Record<string, string | undefined>>,
): McpConfig {
  const path = mcpPath(homeDirectory);
  const files = mcpFiles(homeDirectory, { own: environment, ofProjects: environment });
  return {
    read: () => readMcpFile(path),
    change: (change) => {
      const guard = join(homeDirectory, 'run', 'mcp.guard');
      mkdirSync(dirname(guard), { recursive: true, mode: 0o700 });
      return withFileLock(guard, () => {
        const before = readMcpFile(path);
        writeMcpFile(path, { ...change(before), ...(before.rest && { rest: before.rest }) });
      });
    },
    discover: (workingDirectory) => {
      const { servers, disabled } = files({ workingDirectory, isDiscovering: true });
      return [...servers].map(([name, { raw, source }]) => ({
        name,
        type: typeof raw.command === 'string' ? ('stdio' as const) : remoteType(raw.type),
        source,
        enabled: !disabled.includes(name),
      }));
    },
  };
}

function remoteType(type: unknown): 'http' | 'sse' {
  return type === 'sse' ? 'sse' : 'http';
}
