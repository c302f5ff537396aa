import type { JsonObject } from '@groundcrew/protocol';
import { systemClock } from '../clock.js';
import type { ProgramHost } from '../tools/shell/program.js';
import { readServerConfig } from './config.js';
import type { LoginOptions } from './oauth/logins.js';
import { fileTokens } from './oauth/token-book.js';

import { McpServers } from './servers.js';
import type { McpStatus } from './status.js';

/** What a server is like when it is started for a look. */
export interface McpProbe {
  readonly status: McpStatus;
  readonly error?: string;
  readonly tools: readonly { readonly name: string; readonly description: string }[];
  readonly milliseconds: number;
  readonly protocolVersion?: string;
}

/** What a server outside any session is started with. */
interface ProbeParts {
  readonly programs: ProgramHost;
  readonly version: string;
  readonly workingDirectory: string;
  readonly homeDirectory: string;
}

/** Starts a server outside any session, looks what it offers, and ends it. */
export async function probeMcpServer(
  raw: JsonObject,
  parts: ProbeParts,
  signal: AbortSignal,
): Promise<McpProbe> {
  const servers = serversOf(raw, parts);
  try {
    return await look(servers, signal);
  } finally {
    await servers.close();
  }
}

/** Logs in at a server, keeps the tokens in the home, and looks whether they serve. Rejects with why it could not begin. */
export async function logInAtMcpServer(
  raw: JsonObject,
  parts: ProbeParts & LoginOptions & { show(authorizationUrl: string): void },
  signal: AbortSignal,
): Promise<McpProbe> {
  const { programs, version, workingDirectory, homeDirectory, show, ...wish } = parts;
  const servers = serversOf(raw, { programs, version, workingDirectory, homeDirectory });
  const stop = () => servers.logins.close();
  signal.addEventListener('abort', stop, { once: true });
  try {
    const before = await look(servers, signal);
    const [server] = servers.list();
    if (!server || (before.status !== 'needs-auth' && !wish.isForced)) return before;
    const { authorizationUrl, over } = await servers.logins.start(server, wish);
    if (authorizationUrl !== undefined) show(authorizationUrl);
    const failure = await over;
    return failure === undefined ? await look(servers, signal) : { ...before, error: failure };
  } finally {
    signal.removeEventListener('abort', stop);
    await servers.close();
  }
}

async function look(servers: McpServers, signal: AbortSignal): Promise<McpProbe> {
  const began = performance.now();
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
}

function serversOf(raw: JsonObject, { homeDirectory, ...parts }: ProbeParts): McpServers {
  const refused = async () => Promise.reject(new Error('There is no session'));
  return new McpServers(
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
      tokens: () => fileTokens(homeDirectory),
      takenNames: () => new Set(),
    },
    { servers: new Map([['server', readServerConfig(raw)]]), disabled: [], envValueMode: 'direct' },
  );
}
