import * as z from 'zod';
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
      arguments: z.unknown().optional(),
      providerId: z.string().nullable().optional(),
      traceparent: z.string().optional(),
      tracestate: z.string().optional(),
      workingDirectory: z.string().optional(),
    }),
  ),
  'tool.execution_complete': durable('A tool call ended: its result, or why there is none.', () =>
    openObject({
      success: z.boolean(),
      toolCallId: z.string(),
      error: openObject({ message: z.string(), code: z.string().optional() }).optional(),
      interactionId: z.string().optional(),
      isUserRequested: z.boolean().optional(),
      mcpMeta: z.unknown().optional(),
      model: z.string().optional(),
      parentToolCallId: z.string().optional(),
      result: toolOutput().optional(),
      rte: z.boolean().optional(),
      sandboxed: z.boolean().optional(),
      toolDescription: toolDescription().optional(),
      toolTelemetry: z.record(z.string(), z.unknown()).optional(),
      turnId: z.string().optional(),
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
      arguments: z.unknown().optional(),
      displayVerbatim: z.boolean().optional(),
      mcpServerName: z.string().optional(),
      mcpToolName: z.string().optional(),
      model: z.string().optional(),
      parentToolCallId: z.string().optional(),
      rte: z.boolean().optional(),
      shellToolInfo: openObject({
        hasWriteFileRedirection: z.boolean(),
        possiblePaths: z.array(z.string()),
        displayCommand: z.string().optional(),
      }).optional(),
      toolDescription: toolDescription().optional(),
      toolTitle: z.string().optional(),
      turnId: z.string().optional(),
    }),
  ),
  'tool.user_requested': durable('A user, not the model, asks for a tool call.', () =>
    openObject({ toolCallId: z.string(), toolName: z.string(), arguments: z.unknown().optional() }),
  ),
  'tool_search.activated': durable('Tools that were held back are offered to the model.', () =>
    openObject({ strategy: z.string(), toolNames: z.array(z.string()) }),
  ),
};

const toolDescription = once(() =>
  openObject({ name: z.string(), description: z.string().optional(), _meta: z.unknown().optional() }),
);
