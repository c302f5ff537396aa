import * as z from 'zod/mini';
import { toolOutput } from '../content.js';
import { durable, ephemeral } from '../define.js';
import { once, openObject } from '../schema.js';

/** Tool calls, from intent to receipt. */
export const toolEvents = {
  'external_tool.completed': durable("A call of a client's tool was answered.", () =>
    openObject({ requestId: z.string() }),
  ),
  'external_tool.requested': durable('A client that owns this tool is asked to run it.', () =>
    openObject({
      requestId: z.string(),
      sessionId: z.string(),
      toolCallId: z.string(),
      toolName: z.string(),
      arguments: z.optional(z.unknown()),
      providerId: z.optional(z.nullable(z.string())),
      traceparent: z.optional(z.string()),
      tracestate: z.optional(z.string()),
      workingDirectory: z.optional(z.string()),
    }),
  ),
  'tool.execution_complete': durable('A tool call ended: its result, or why there is none.', () =>
    openObject({
      success: z.boolean(),
      toolCallId: z.string(),
      error: z.optional(openObject({ message: z.string(), code: z.optional(z.string()) })),
      interactionId: z.optional(z.string()),
      isUserRequested: z.optional(z.boolean()),
      mcpMeta: z.optional(z.unknown()),
      model: z.optional(z.string()),
      parentToolCallId: z.optional(z.string()),
      result: z.optional(toolOutput()),
      rte: z.optional(z.boolean()),
      sandboxed: z.optional(z.boolean()),
      toolDescription: z.optional(toolDescription()),
      toolTelemetry: z.optional(z.record(z.string(), z.unknown())),
      turnId: z.optional(z.string()),
    }),
  ),
  'tool.execution_partial_result': ephemeral('All the output of a running tool so far.', () =>
    openObject({ partialOutput: z.string(), toolCallId: z.string() }),
  ),
  'tool.execution_progress': ephemeral('A running tool says how far it is.', () =>
    openObject({ progressMessage: z.string(), toolCallId: z.string() }),
  ),
  'tool.execution_start': durable('A tool call was asked for; nothing has run yet.', () =>
    openObject({
      toolCallId: z.string(),
      toolName: z.string(),
      arguments: z.optional(z.unknown()),
      displayVerbatim: z.optional(z.boolean()),
      mcpServerName: z.optional(z.string()),
      mcpToolName: z.optional(z.string()),
      model: z.optional(z.string()),
      parentToolCallId: z.optional(z.string()),
      rte: z.optional(z.boolean()),
      shellToolInfo: z.optional(
        openObject({
          hasWriteFileRedirection: z.boolean(),
          possiblePaths: z.array(z.string()),
          displayCommand: z.optional(z.string()),
        }),
      ),
      toolDescription: z.optional(toolDescription()),
      toolTitle: z.optional(z.string()),
      turnId: z.optional(z.string()),
    }),
  ),
  'tool.user_requested': durable('A user, not the model, asks for a tool call.', () =>
    openObject({ toolCallId: z.string(), toolName: z.string(), arguments: z.optional(z.unknown()) }),
  ),
  'tool_search.activated': durable('Tools that were held back are offered to the model.', () =>
    openObject({ strategy: z.string(), toolNames: z.array(z.string()) }),
  ),
};

const toolDescription = once(() =>
  openObject({ name: z.string(), description: z.optional(z.string()), _meta: z.optional(z.unknown()) }),
);
