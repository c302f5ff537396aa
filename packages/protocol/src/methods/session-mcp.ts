import * as z from 'zod/mini';
import { method } from '../define.js';
import { mcpServerStatus } from '../events/mcp.js';
import { nothing, once, oneOf, openObject } from '../schema.js';
import { inSession, sessionRef, success } from './session-ref.js';

const serverRef = once(() => inSession({ serverName: z.string() }));

const mode = () => z.enum(['direct', 'indirect']);

const resourceContent = once(() =>
  openObject({
    uri: z.string(),
    mimeType: z.optional(z.string()),
    text: z.optional(z.string()),
    blob: z.optional(z.string()),
    _meta: z.optional(z.record(z.string(), z.unknown())),
  }),
);

/** The MCP servers of a session. */
export const sessionMcpMethods = {
  'session.mcp.list': method(
    'The MCP servers and their states. Starts them, where no turn has yet, and does not wait for them.',
    sessionRef,
    () =>
      openObject({
        servers: z.array(
          openObject({
            name: z.string(),
            status: mcpServerStatus(),
            source: z.optional(z.enum(['user', 'workspace', 'plugin', 'builtin'])),
            error: z.optional(z.string()),
            transport: z.optional(z.enum(['stdio', 'http', 'sse', 'memory'])),
          }),
        ),
        host: z.optional(
          openObject({
            mcp3pEnabled: z.boolean(),
            disabledServers: z.array(z.string()),
            filteredServers: z.array(z.string()),
            clients: z.array(z.string()),
            pendingConnections: z.array(z.string()),
            failedServers: z.record(z.string(), openObject({ message: z.string(), timestamp: z.number() })),
            needsAuthServers: z.record(z.string(), openObject({ timestamp: z.number() })),
          }),
        ),
      }),
  ),
  'session.mcp.listTools': method(
    'The tools of a server that is connected, as it calls them.',
    serverRef,
    () =>
      openObject({
        tools: z.array(
          openObject({
            name: z.string(),
            description: z.optional(z.string()),
            ui: z.optional(
              openObject({
                resourceUri: z.optional(z.string()),
                visibility: z.optional(z.array(z.string())),
              }),
            ),
          }),
        ),
      }),
  ),
  'session.mcp.enable': method('Enables a server for this session, and starts it.', serverRef, nothing),
  'session.mcp.disable': method(
    'Stops a server and keeps it from starting in this session.',
    serverRef,
    nothing,
  ),
  'session.mcp.reload': method('Ends all servers and starts them again.', sessionRef, nothing),
  'session.mcp.startServer': method('Starts a server that was stopped or has failed.', serverRef, nothing),
  'session.mcp.restartServer': method('Ends a server and starts it again.', serverRef, nothing),
  'session.mcp.stopServer': method('Ends a server until it is started again.', serverRef, nothing),
  'session.mcp.isServerRunning': method('Whether a server is connected.', serverRef, () =>
    openObject({ running: z.boolean() }),
  ),
  'session.mcp.listConfigured': method(
    'The MCP servers of the session as they are configured; starts none and waits for none.',
    sessionRef,
    () =>
      openObject({
        servers: z.array(
          openObject({
            name: z.string(),
            enabled: z.boolean(),
            source: z.optional(z.enum(['user', 'workspace', 'plugin', 'builtin'])),
            live: openObject({
              status: mcpServerStatus(),
              error: z.optional(z.string()),
              toolsLoaded: z.boolean(),
            }),
          }),
        ),
      }),
  ),
  'session.mcp.moveLoadingToBackground': method(
    'Lets turns continue without the servers that are still starting; their tools come when they are ready.',
    sessionRef,
    () => openObject({ movedToBackground: z.boolean() }),
  ),
  'session.mcp.prompts.get': method(
    'The messages that a server makes of one of its prompts; no other client gets them.',
    () =>
      inSession({
        serverName: z.string(),
        promptName: z.string(),
        arguments: z.optional(z.record(z.string(), z.string())),
      }),
    () =>
      openObject({
        messages: z.array(openObject({ role: z.enum(['user', 'assistant']), content: z.unknown() })),
        description: z.optional(z.string()),
      }),
  ),
  'session.mcp.prompts.list': method(
    'The prompts of a server that is connected, all on one page.',
    () => inSession({ serverName: z.string(), cursor: z.optional(z.string()) }),
    () => openObject({ prompts: z.array(z.record(z.string(), z.unknown())) }),
  ),
  'session.mcp.resources.list': method('The resources of a server.', serverRef, () =>
    openObject({ resources: z.array(z.record(z.string(), z.unknown())) }),
  ),
  'session.mcp.resources.listTemplates': method('The templates of resources of a server.', serverRef, () =>
    openObject({ resourceTemplates: z.array(z.record(z.string(), z.unknown())) }),
  ),
  'session.mcp.resources.read': method(
    'Reads a resource of a server.',
    () => inSession({ serverName: z.string(), uri: z.string() }),
    () => openObject({ contents: z.array(resourceContent()) }),
  ),
  'session.mcp.apps.readResource': method(
    'Reads a resource of a server for an app of its own.',
    () => inSession({ serverName: z.string(), uri: z.string() }),
    () => openObject({ contents: z.array(resourceContent()) }),
  ),
  'session.mcp.apps.listTools': method(
    'The tools of a server that an app of it may call.',
    () => inSession({ serverName: z.string(), originServerName: z.string() }),
    () => openObject({ tools: z.array(z.record(z.string(), z.unknown())) }),
  ),
  'session.mcp.apps.callTool': method(
    'Calls a tool for an app of its server. Hooks, rules and plan mode apply; users are asked only where hooks want it.',
    () =>
      inSession({
        serverName: z.string(),
        toolName: z.string(),
        arguments: z.optional(z.record(z.string(), z.unknown())),
        originServerName: z.string(),
      }),
    () => z.record(z.string(), z.unknown()),
  ),
  'session.mcp.apps.setHostContext': method(
    'Keeps what apps of servers may know of the app around them.',
    () => inSession({ context: z.record(z.string(), z.unknown()) }),
    nothing,
  ),
  'session.mcp.apps.getHostContext': method('What `setHostContext` kept.', sessionRef, () =>
    openObject({ context: z.record(z.string(), z.unknown()) }),
  ),
  'session.mcp.apps.diagnose': method(
    'Whether apps of a server could be shown, and what it has for them.',
    serverRef,
    () =>
      openObject({
        capability: openObject({
          sessionHasMcpApps: z.boolean(),
          featureFlagEnabled: z.boolean(),
          advertised: z.boolean(),
        }),
        server: openObject({
          connected: z.boolean(),
          toolCount: z.number(),
          toolsWithUiMeta: z.number(),
          sampleToolNames: z.array(z.string()),
        }),
      }),
  ),
  'session.mcp.executeSampling': method(
    "Asks the session's model what a server would, with the same permission and budget.",
    () =>
      inSession({
        requestId: z.string(),
        serverName: z.string(),
        mcpRequestId: z.optional(z.unknown()),
        request: z.record(z.string(), z.unknown()),
      }),
    () =>
      openObject({
        action: z.enum(['success', 'failure', 'cancelled']),
        result: z.optional(z.record(z.string(), z.unknown())),
        error: z.optional(z.string()),
      }),
  ),
  'session.mcp.cancelSamplingExecution': method(
    'Ends what `executeSampling` began; false when nothing runs under that id.',
    () => inSession({ requestId: z.string() }),
    () => openObject({ cancelled: z.boolean() }),
  ),
  'session.mcp.oauth.handlePendingRequest': method(
    'Answers `mcp.oauth_required` with a token, or declines; false when it was answered before.',
    () =>
      inSession({
        requestId: z.string(),
        result: oneOf('kind', [
          openObject({
            kind: z.literal('token'),
            accessToken: z.string(),
            tokenType: z.optional(z.string()),
            expiresIn: z.optional(z.number()),
          }),
          openObject({ kind: z.literal('cancelled') }),
        ]),
      }),
    success,
  ),
  'session.mcp.oauth.login': method(
    'Begins to log in at a server. The address, if there is one, is for a browser; the server is reached again when the user is done there.',
    () =>
      inSession({
        serverName: z.string(),
        forceReauth: z.optional(z.boolean()),
        clientName: z.optional(z.string()),
        callbackSuccessMessage: z.optional(z.string()),
        clientId: z.optional(z.string()),
        clientSecret: z.optional(z.string()),
        publicClient: z.optional(z.boolean()),
        grantType: z.optional(z.enum(['authorization_code', 'client_credentials'])),
        /** The browser comes back to this address of the app, which hands over what it brings by `complete`. */
        redirectUri: z.optional(z.string()),
      }),
    () => openObject({ authorizationUrl: z.optional(z.string()), authorizationId: z.optional(z.string()) }),
  ),
  'session.mcp.oauth.authenticationStateChanged': method(
    'A log-in elsewhere has kept tokens for a server, or for any: those that want them are reached with them, and their tools are read again.',
    () => inSession({ serverName: z.optional(z.string()), refreshSessionToken: z.optional(z.boolean()) }),
    nothing,
  ),
  'session.mcp.oauth.complete': method(
    'Hands over the address at which the browser came back to the app. Answers when the tokens are kept.',
    () => inSession({ authorizationId: z.string(), callbackUrl: z.string() }),
    nothing,
  ),
  'session.mcp.oauth.probe': method(
    'How a server answers a request with its stored token, or with none; nothing changes.',
    () => inSession({ serverName: z.string(), expectedInstallationId: z.optional(z.string()) }),
    () =>
      openObject({
        status: z.enum(['no-auth-required', 'authenticated', 'needs-auth', 'failed']),
        httpResponse: z.optional(
          openObject({
            headers: z.array(openObject({ name: z.string(), value: z.string() })),
            statusCode: z.number(),
            body: z.optional(z.string()),
          }),
        ),
        reason: z.optional(z.enum(['initial', 'refresh', 'upscope'])),
        wwwAuthenticateParams: z.optional(
          openObject({
            error: z.optional(z.string()),
            resourceMetadataUrl: z.optional(z.string()),
            scope: z.optional(z.string()),
          }),
        ),
        error: z.optional(z.string()),
      }),
  ),
  'session.mcp.oauth.respond': method(
    'Declines `mcp.oauth_required`, as `handlePendingRequest` does with `cancelled`; false when it was answered before.',
    () => inSession({ requestId: z.string() }),
    success,
  ),
  'session.mcp.headers.handlePendingHeadersRefreshRequest': method(
    'Answers `mcp.headers_refresh_required` with headers, or with none; false means that it was answered before.',
    () =>
      inSession({
        requestId: z.string(),
        result: oneOf('kind', [
          openObject({ kind: z.literal('headers'), headers: z.record(z.string(), z.string()) }),
          openObject({ kind: z.literal('none') }),
        ]),
      }),
    success,
  ),
  'session.mcp.setEnvValueMode': method(
    'How values of `env` are read by servers that start from now on: as they stand, or with names in braces after a dollar sign replaced.',
    () => inSession({ mode: mode() }),
    () => openObject({ mode: mode() }),
  ),
  'session.mcp.removeGitHub': method(
    'Takes the built-in GitHub server off; false when there is none. Servers that clients named stay.',
    sessionRef,
    () => openObject({ removed: z.boolean() }),
  ),
};
