import type { JsonObject, JsonValue } from '@groundcrew/protocol';
import { type Tool, ToolInputError } from '../tools/tool.js';
import type { ToolDefinition } from './definition.js';
import type { McpServer } from './server.js';

/** The model's view of a tool of a server: asked about by the gate, run by the server. */
export function mcpTool(server: McpServer, definition: ToolDefinition, name: string): Tool {
  const { isTrusted } = server.config;
  const readOnly = isTrusted && definition.isReadOnly;
  const identity = { mcpServerName: server.name, mcpToolName: definition.name };
  return {
    name,
    description: definition.description,
    inputSchema: definition.inputSchema,
    source: 'mcp',
    mcp: identity,
    version: definition.version,
    isNeverDeferred: server.config.isNeverDeferred,
    // What a server says of its own harmlessness counts where the user trusts it.
    isRepeatable: readOnly || (isTrusted && definition.isIdempotent),
    preview: async () => ({ ...identity, toolTitle: definition.title }),
    prepare: (input, context) => {
      const args = argumentsOf(input, name);
      const request = {
        kind: 'mcp' as const,
        serverName: server.name,
        toolName: name,
        toolTitle: definition.title,
        args: args as JsonValue,
        readOnly,
      };
      return {
        type: 'run',
        questions: [
          {
            request,
            definitions: { [name]: definition.version },
            ...(server.isChanged(definition) && { isChanged: true }),
          },
        ],
        mcpCall: { serverName: server.name, toolName: definition.name, arguments: args },
        run: (signal, { meta } = {}) => {
          server.accept(definition);
          return server.call(definition.name, args, {
            signal,
            meta,
            progress: (output) => context.progress(output),
          });
        },
      };
    },
  };
}

function argumentsOf(input: unknown, toolName: string): JsonObject {
  if (input === undefined || input === null) return {};
  if (typeof input === 'object' && !Array.isArray(input)) return input as JsonObject;
  throw new ToolInputError(`The arguments of ${toolName} must be an object`);
}
