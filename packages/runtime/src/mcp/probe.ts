import type { JsonObject } from '@groundcrew/protocol';
import { systemClock } from '../clock.js';
import type { ProgramHost } from '../tools/shell/program.js';
import { readServerConfig } from './config.js';
import type { McpStatus } from './server.js';
import { McpServers } from './servers.js';

/** What a server is like when it is started for a look. */
export interface McpProbe {
  readonly status: McpStatus;
  readonly error?: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly milliseconds: number;
  readonly protocolVersion?: string;
}

/** Starts a server outside any session, looks what it offers, and ends it. */
export async function probeMcpServer(
  raw: JsonObject,
  parts: { readonly programs: ProgramHost; readonly version: string; readonly workingDirectory: string },
  signal: AbortSignal,
): Promise<McpProbe> {
  const refused = async () => Promise.reject(new Error('There is no session'));
  const servers = new McpServers(
    {
      ...parts,
      clock: systemClock(),
      workingDirectory: async () => parts.workingDirectory,
      confinement: async () => undefined,
      directories: () => [parts.workingDirectory],
      abilities: () => ({ forms: false, apps: false }),
      elicit: refused,
      sample: refused,
      mayStart: async () => undefined,
      emit: () => undefined,
      isWanted: () => false,
      warn: () => undefined,
      takenNames: () => new Set(),
    },
    { servers: new Map([['server', readServerConfig(raw)]]), disabled: [], envValueMode: 'direct' },
  );
  const began = performance.now();
  try {
    await servers.ready(signal);
    const milliseconds = Math.round(performance.now() - began);
    const [server] = servers.list();
    const { status = 'failed', error, tools = [] } = server ?? {};
    const protocolVersion = server?.connection?.protocolVersion;
    return {
      status,
      tools: tools.map(({ name, description }) => ({ name, description })),
      milliseconds,
      ...(error !== undefined && { error }),
      ...(protocolVersion !== undefined && { protocolVersion }),
    };
  } finally {
    await servers.close();
  }
}
