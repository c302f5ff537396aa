import * as z from 'zod/mini';
import { method } from '../define.js';
import { mcpServerStatus } from '../events/mcp.js';
import { nothing, once, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

const serverRef = once(() => inSession({ serverName: z.string() }));

const mode = () => z.enum(['direct', 'indirect']);

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
