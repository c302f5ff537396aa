import * as z from 'zod';
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
  'mcp.oauth_required': ephemeral('An MCP server needs somebody to log in.', () =>
    openObject({
      reason: z.enum(['initial', 'refresh', 'reauth', 'upscope']),
      requestId: z.string(),
      serverName: z.string(),
      serverUrl: z.string(),
      httpResponse: openObject({
        headers: z.array(openObject({ name: z.string(), value: z.string() })),
        statusCode: z.number(),
        body: z.string().optional(),
      }).optional(),
      resourceMetadata: z.string().optional(),
      staticClientConfig: openObject({
        clientId: z.string(),
        clientSecret: z.string().optional(),
        grantType: z.literal('client_credentials').optional(),
        publicClient: z.boolean().optional(),
      }).optional(),
      wwwAuthenticateParams: openObject({
        error: z.string().optional(),
        resourceMetadataUrl: z.string().optional(),
        scope: z.string().optional(),
      }).optional(),
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
      arguments: z.record(z.string(), z.unknown()).optional(),
      error: openObject({ message: z.string() }).optional(),
      result: z.record(z.string(), z.unknown()).optional(),
      toolMeta: openObject({
        ui: openObject({
          resourceUri: z.string().optional(),
          visibility: z.array(z.string()).optional(),
        }).optional(),
      }).optional(),
    }),
  ),
  'session.mcp_server_status_changed': ephemeral('An MCP server connected, failed or stopped.', () =>
    openObject({
      serverName: z.string(),
      status: serverStatus(),
      error: z.string().optional(),
    }),
  ),
  'session.mcp_servers_loaded': ephemeral('All MCP servers of the session and their state.', () =>
    openObject({
      servers: z.array(
        openObject({
          name: z.string(),
          status: serverStatus(),
          error: z.string().optional(),
          pluginName: z.string().optional(),
          pluginVersion: z.string().optional(),
          source: z.enum(['user', 'workspace', 'plugin', 'builtin']).optional(),
          transport: z.enum(['stdio', 'http', 'sse', 'memory']).optional(),
        }),
      ),
    }),
  ),
};

const serverStatus = once(() =>
  z.enum(['connected', 'failed', 'needs-auth', 'pending', 'disabled', 'stopped', 'not_configured']),
);
