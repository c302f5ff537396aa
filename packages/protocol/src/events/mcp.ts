import * as z from 'zod/mini';
import { ephemeral } from '../define.js';
import { once, openObject } from '../schema.js';

/** MCP servers: their state, their lists, what they need to log in. */
export const mcpEvents = {
  'mcp.headers_refresh_completed': ephemeral('Fresh headers were brought, or none.', () =>
    openObject({ outcome: z.enum(['headers', 'none', 'timeout']), requestId: z.string() }),
  ),
  'mcp.headers_refresh_required': ephemeral('An MCP server needs fresh headers.', () =>
    openObject({
      reason: z.enum(['startup', 'ttl-expired', 'auth-failed']),
      requestId: z.string(),
      serverName: z.string(),
      serverUrl: z.string(),
    }),
  ),
  'mcp.oauth_completed': ephemeral('A log-in was finished or cancelled.', () =>
    openObject({ outcome: z.enum(['token', 'cancelled']), requestId: z.string() }),
  ),
  'mcp.oauth_required': ephemeral('An MCP server needs a user to log in.', () =>
    openObject({
      reason: z.enum(['initial', 'refresh', 'reauth', 'upscope']),
      requestId: z.string(),
      serverName: z.string(),
      serverUrl: z.string(),
      httpResponse: z.optional(
        openObject({
          headers: z.array(openObject({ name: z.string(), value: z.string() })),
          statusCode: z.number(),
          body: z.optional(z.string()),
        }),
      ),
      resourceMetadata: z.optional(z.string()),
      staticClientConfig: z.optional(
        openObject({
          clientId: z.string(),
          clientSecret: z.optional(z.string()),
          grantType: z.optional(z.literal('client_credentials')),
          publicClient: z.optional(z.boolean()),
        }),
      ),
      wwwAuthenticateParams: z.optional(
        openObject({
          error: z.optional(z.string()),
          resourceMetadataUrl: z.optional(z.string()),
          scope: z.optional(z.string()),
        }),
      ),
    }),
  ),
  'mcp.prompts.list_changed': ephemeral('The prompts of an MCP server changed.', () =>
    openObject({ serverName: z.string() }),
  ),
  'mcp.resources.list_changed': ephemeral('The resources of an MCP server changed.', () =>
    openObject({ serverName: z.string() }),
  ),
  'mcp.tools.list_changed': ephemeral('The tools of an MCP server changed.', () =>
    openObject({ serverName: z.string() }),
  ),
  'mcp_app.tool_call_complete': ephemeral('A tool call made by an MCP app ended.', () =>
    openObject({
      durationMs: z.number(),
      serverName: z.string(),
      success: z.boolean(),
      toolName: z.string(),
      arguments: z.optional(z.record(z.string(), z.unknown())),
      error: z.optional(openObject({ message: z.string() })),
      result: z.optional(z.record(z.string(), z.unknown())),
      toolMeta: z.optional(
        openObject({
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
  'session.mcp_server_status_changed': ephemeral('An MCP server connected, failed or stopped.', () =>
    openObject({
      serverName: z.string(),
      status: mcpServerStatus(),
      error: z.optional(z.string()),
    }),
  ),
  'session.mcp_servers_loaded': ephemeral('All MCP servers of the session and their state.', () =>
    openObject({
      servers: z.array(
        openObject({
          name: z.string(),
          status: mcpServerStatus(),
          error: z.optional(z.string()),
          pluginName: z.optional(z.string()),
          pluginVersion: z.optional(z.string()),
          source: z.optional(z.enum(['user', 'workspace', 'plugin', 'builtin'])),
          transport: z.optional(z.enum(['stdio', 'http', 'sse', 'memory'])),
        }),
      ),
    }),
  ),
};

/** The state of an MCP server. */
export const mcpServerStatus = once(() =>
  z.enum(['connected', 'failed', 'needs-auth', 'pending', 'disabled', 'stopped', 'not_configured']),
);
