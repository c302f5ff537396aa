import type { JsonObject, Methods } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';
import type { RareMethod } from '../rare-methods.js';

type McpServer = ReturnType<Session['tools']['mcp']['list']>[number];
type Names = Exclude<Extract<keyof Methods, `session.mcp.${string}`>, RareMethod>;

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
    requireServers(session, noServers);
    knownServer(session, serverName);
    await session.load();
    session.tools.mcp.enable(serverName);
    return null;
  },
  async 'session.mcp.disable'({ serverName }, { session }) {
    requireServers(session, noServers);
    knownServer(session, serverName);
    await session.tools.mcp.disable(serverName);
    return null;
  },
  async 'session.mcp.reload'(_params, { session }) {
    requireServers(session, 'MCP config reload not available');
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
  async 'session.mcp.resources.list'({ serverName }, { session }) {
    const server = connectedServer(session, serverName);
    const resources = await server.ask((connection, limit) => connection.resources(limit));
    return { resources: resources.map((each) => ({ ...each })) };
  },
  async 'session.mcp.resources.listTemplates'({ serverName }, { session }) {
    const server = connectedServer(session, serverName);
    const templates = await server.ask((connection, limit) => connection.resourceTemplates(limit));
    return { resourceTemplates: templates.map((each) => ({ ...each })) };
  },
  'session.mcp.resources.read': ({ serverName, uri }, { session }) => readResource(session, serverName, uri),
  async 'session.mcp.apps.readResource'({ serverName, uri }, { session }) {
    return readResource(session, serverName, uri);
  },
  async 'session.mcp.apps.listTools'({ serverName, originServerName }, { session }) {
    const server = serverOfApp(session, serverName, originServerName);
    return {
      tools: server.tools
        .filter(isForApps)
        .map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    };
  },
  async 'session.mcp.apps.callTool'(params, { session, signal }) {
    const { serverName, toolName, originServerName, arguments: args = {} } = params;
    const server = serverOfApp(session, serverName, originServerName);
    const tool = server.tools.find(({ name }) => name === toolName);
    if (!tool || !isForApps(tool))
      throw new Refusal(`MCP server '${serverName}' has no tool ${toolName} for apps`);
    const isReadOnly = server.config.isTrusted && tool.isReadOnly;
    const asked = { serverName, toolName, arguments: args as JsonObject };
    const reviewed = await session.tools.reviewMcpCall(asked, isReadOnly, signal);
    if ('denial' in reviewed) throw new Refusal(reviewed.denial);
    return session.tools.mcp.callForApp(server, reviewed, signal);
  },
  async 'session.mcp.apps.setHostContext'({ context }, { session }) {
    session.tools.mcp.hostContext = context as JsonObject;
    return null;
  },
  async 'session.mcp.apps.getHostContext'(_params, { session }) {
    return { context: { ...session.tools.mcp.hostContext } };
  },
  async 'session.mcp.apps.diagnose'({ serverName }, { session }) {
    // A server that there is none of is one that is not connected: that is what users want to learn here.
    const server = session.tools.mcp.find(serverName) ?? { isRunning: false, tools: [] };
    const withUi = server.tools.filter(({ ui }) => ui !== undefined);
    const hasMcpApps = session.currentSettings.hasMcpApps ?? false;
    return {
      capability: { sessionHasMcpApps: hasMcpApps, featureFlagEnabled: true, advertised: hasMcpApps },
      server: {
        connected: server.isRunning,
        toolCount: server.tools.length,
        toolsWithUiMeta: withUi.length,
        sampleToolNames: withUi.slice(0, 5).map(({ name }) => name),
      },
    };
  },
  async 'session.mcp.executeSampling'({ requestId, serverName, request }, { session, signal }) {
    knownServer(session, serverName);
    const { samplings } = session.tools.mcp;
    const controller = new AbortController();
    samplings.set(requestId, controller);
    try {
      const either = AbortSignal.any([signal, controller.signal]);
      const result = await session.tools.sample(serverName, request, either);
      return { action: 'success', result: { ...result } };
    } catch (error) {
      if (controller.signal.aborted) return { action: 'cancelled' };
      return { action: 'failure', error: error instanceof Error ? error.message : String(error) };
    } finally {
      samplings.delete(requestId);
    }
  },
  async 'session.mcp.cancelSamplingExecution'({ requestId }, { session }) {
    const running = session.tools.mcp.samplings.get(requestId);
    running?.abort(new Error('The sampling was cancelled'));
    return { cancelled: running !== undefined };
  },
  async 'session.mcp.oauth.handlePendingRequest'({ requestId, result }, { session }) {
    return { success: session.tools.mcp.auth.answer(requestId, result) };
  },
  async 'session.mcp.oauth.login'(params, { session }) {
    const { serverName, clientId, clientSecret, publicClient, grantType, clientName } = params;
    requireServers(session, 'MCP host is not available');
    const server = knownServer(session, serverName);
    await session.load();
    const { authorizationUrl, authorizationId } = await session.tools.mcp.logins
      .start(server, {
        clientId,
        clientName,
        clientSecret: publicClient ? undefined : clientSecret,
        isForced: params.forceReauth,
        message: params.callbackSuccessMessage,
        redirectUri: params.redirectUri,
        ...(grantType !== undefined && { isMachine: grantType === 'client_credentials' }),
      })
      .catch(refuse);
    return {
      ...(authorizationUrl !== undefined && { authorizationUrl }),
      ...(authorizationId !== undefined && { authorizationId }),
    };
  },
  async 'session.mcp.oauth.authenticationStateChanged'({ serverName }, { session }) {
    if (serverName !== undefined) knownServer(session, serverName);
    await session.load();
    await session.tools.mcp.credentialsChanged(serverName);
    return null;
  },
  async 'session.mcp.oauth.complete'({ authorizationId, callbackUrl }, { session }) {
    await session.tools.mcp.logins.complete(authorizationId, callbackUrl).catch(refuse);
    return null;
  },
  async 'session.mcp.oauth.probe'({ serverName, expectedInstallationId }, { session, signal }) {
    if (expectedInstallationId !== undefined)
      throw new Refusal(
        "'expectedInstallationId' has no effect here: no server is installed from a catalog.",
      );
    return session.tools.mcp.probeAuth(knownServer(session, serverName), signal).catch(refuse);
  },
  async 'session.mcp.oauth.respond'({ requestId }, { session }) {
    return { success: session.tools.mcp.auth.answer(requestId, { kind: 'cancelled' }) };
  },
  async 'session.mcp.headers.handlePendingHeadersRefreshRequest'({ requestId, result }, { session }) {
    return { success: session.tools.mcp.headers.answer(requestId, result) };
  },
  async 'session.mcp.setEnvValueMode'({ mode }, { session }) {
    session.tools.mcp.envValueMode = mode;
    return { mode };
  },
  async 'session.mcp.removeGitHub'(_params, { session }) {
    return { removed: session.tools.mcp.removeBuiltin() };
  },
};

/** Passes the message of an error on to the client. */
function refuse(error: unknown): never {
  throw new Refusal(error instanceof Error ? error.message : String(error));
}

async function readResource(session: Session, serverName: string, uri: string) {
  const server = connectedServer(session, serverName);
  const contents = await server.ask((connection, limit) => connection.readResource(uri, limit));
  return { contents: contents.map((each) => ({ ...each })) };
}

/** An app may call tools of its own server only. */
function serverOfApp(session: Session, serverName: string, originServerName: string): McpServer {
  if (!session.currentSettings.hasMcpApps)
    throw new Refusal('The session has no mcp-apps capability; create it with requestMcpApps: true');
  if (serverName !== originServerName)
    throw new Refusal(`An app of ${originServerName} may not call tools of ${serverName} (mcp-apps)`);
  return connectedServer(session, serverName);
}

function isForApps({ ui }: McpServer['tools'][number]): boolean {
  const { visibility } = ui ?? {};
  return !Array.isArray(visibility) || visibility.includes('app');
}

const noServers = 'No MCP host initialized';

/** Clients know these words for a session that has no server at all. */
function requireServers(session: Session, words: string): void {
  if (session.tools.mcp.list().length === 0) throw new Refusal(`${words}: the session has no MCP server`);
}

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
