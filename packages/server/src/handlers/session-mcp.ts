import type { Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type McpServer = ReturnType<Session['tools']['mcp']['list']>[number];
type Names = Extract<keyof Methods, `session.mcp.${string}`>;

export const sessionMcpHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.mcp.list'(_params, { session }) {
    const { mcp } = session.tools;
    await session.load();
    mcp.begin();
    const servers = mcp.list();
    const named = (status: McpServer['status']) => servers.filter((server) => server.status === status);
    return {
      servers: mcp.describe(),
      host: {
        mcp3pEnabled: true,
        disabledServers: named('disabled').map(({ name }) => name),
        filteredServers: [],
        clients: named('connected').map(({ name }) => name),
        pendingConnections: named('pending').map(({ name }) => name),
        failedServers: Object.fromEntries(
          named('failed').map(({ name, error = '', changedAt }) => [
            name,
            { message: error, timestamp: changedAt },
          ]),
        ),
        needsAuthServers: Object.fromEntries(
          named('needs-auth').map(({ name, changedAt }) => [name, { timestamp: changedAt }]),
        ),
      },
    };
  },
  async 'session.mcp.listTools'({ serverName }, { session }) {
    const server = connectedServer(session, serverName);
    return {
      tools: server.tools.map(({ name, description, ui }) => ({
        name,
        description,
        ...(ui && { ui }),
      })),
    };
  },
  async 'session.mcp.enable'({ serverName }, { session }) {
    knownServer(session, serverName);
    await session.load();
    session.tools.mcp.enable(serverName);
    return null;
  },
  async 'session.mcp.disable'({ serverName }, { session }) {
    knownServer(session, serverName);
    await session.tools.mcp.disable(serverName);
    return null;
  },
  async 'session.mcp.reload'(_params, { session }) {
    await session.load();
    await session.tools.mcp.reload();
    return null;
  },
  async 'session.mcp.startServer'({ serverName }, { session }) {
    knownServer(session, serverName);
    await session.load();
    session.tools.mcp.enable(serverName);
    return null;
  },
  async 'session.mcp.restartServer'({ serverName }, { session }) {
    knownServer(session, serverName);
    await session.load();
    await session.tools.mcp.restart(serverName);
    return null;
  },
  async 'session.mcp.stopServer'({ serverName }, { session }) {
    await knownServer(session, serverName).stop('stopped');
    return null;
  },
  async 'session.mcp.isServerRunning'({ serverName }, { session }) {
    return { running: session.tools.mcp.find(serverName)?.isRunning ?? false };
  },
  async 'session.mcp.setEnvValueMode'({ mode }, { session }) {
    session.tools.mcp.envValueMode = mode;
    return { mode };
  },
  async 'session.mcp.removeGitHub'(_params, { session }) {
    return { removed: session.tools.mcp.removeBuiltin() };
  },
};

function knownServer(session: Session, name: string): McpServer {
  const server = session.tools.mcp.find(name);
  if (server) return server;
  const names = session.tools.mcp.list().map((each) => each.name);
  throw new Refusal(
    `MCP server '${name}' is not configured${names.length > 0 ? `; there are ${names.join(', ')}` : ''}`,
  );
}

function connectedServer(session: Session, name: string): McpServer {
  const server = session.tools.mcp.find(name);
  if (server?.isRunning) return server;
  const reason = server?.error === undefined ? '' : `: ${server.error}`;
  throw new Refusal(`MCP server '${name}' is not connected${reason}`);
}
