import * as z from 'zod';
import { durable, ephemeral } from '../define.js';
import { once, openObject } from '../schema.js';

/** What the model says, whole and piece by piece. */
export const assistantEvents = {
  'assistant.idle': ephemeral('The agent has nothing more to do; background agents may still run.', () =>
    openObject({ aborted: z.boolean().optional() }),
  ),
  'assistant.intent': ephemeral('What the agent says it is about to do.', () =>
    openObject({ intent: z.string() }),
  ),
  'assistant.message': durable(
    'One whole answer of the model: its text and the tool calls it asks for.',
    () =>
      openObject({
        content: z.string(),
        messageId: z.string(),
        apiCallId: z.string().optional(),
        chunkCount: z.number().optional(),
        chunkIndex: z.number().optional(),
        citations: z.unknown().optional(),
        clientRequestId: z.string().optional(),
        encryptedContent: z.string().optional(),
        interactionId: z.string().optional(),
        model: z.string().optional(),
        outputTokens: z.number().optional(),
        parentToolCallId: z.string().optional(),
        phase: z.string().optional(),
        reasoningOpaque: z.string().optional(),
        reasoningText: z.string().optional(),
        reasoningWireField: z.string().optional(),
        requestId: z.string().optional(),
        rte: z.boolean().optional(),
        serverTools: z.unknown().optional(),
        serviceRequestId: z.string().optional(),
        toolRequests: z.array(toolRequest()).optional(),
        turnId: z.string().optional(),
      }),
  ),
  'assistant.message_delta': ephemeral('A piece of the text of the message to come.', () =>
    openObject({ deltaContent: z.string(), messageId: z.string(), parentToolCallId: z.string().optional() }),
  ),
  'assistant.message_start': ephemeral('The text of a message begins to stream.', () =>
    openObject({ messageId: z.string(), phase: z.string().optional() }),
  ),
  'assistant.reasoning': durable('What the model thought, whole.', () =>
    openObject({ content: z.string(), reasoningId: z.string(), rte: z.boolean().optional() }),
  ),
  'assistant.reasoning_delta': ephemeral('A piece of what the model thinks.', () =>
    openObject({ deltaContent: z.string(), reasoningId: z.string() }),
  ),
  'assistant.server_tool_progress': ephemeral('A tool the model service runs itself goes on.', () =>
    openObject({ kind: z.string(), outputIndex: z.number(), status: z.string() }),
  ),
  'assistant.streaming_delta': ephemeral('How much of the answer has arrived, in bytes.', () =>
    openObject({ totalResponseSizeBytes: z.number() }),
  ),
  'assistant.tool_call_delta': ephemeral('A piece of the arguments of the tool call to come.', () =>
    openObject({
      inputDelta: z.string(),
      toolCallId: z.string(),
      toolName: z.string().optional(),
      toolType: z.enum(['function', 'custom']).optional(),
    }),
  ),
  'assistant.turn_end': durable('One model call and its tool calls are done.', () =>
    openObject({ turnId: z.string(), model: z.string().optional() }),
  ),
  'assistant.turn_start': durable('The model is about to be called.', () =>
    openObject({ turnId: z.string(), interactionId: z.string().optional(), model: z.string().optional() }),
  ),
};

const toolRequest = once(() =>
  openObject({
    name: z.string(),
    toolCallId: z.string(),
    arguments: z.unknown().optional(),
    intentionSummary: z.string().nullable().optional(),
    mcpServerName: z.string().optional(),
    mcpToolName: z.string().optional(),
    toolTitle: z.string().optional(),
    type: z.enum(['function', 'custom']).optional(),
  }),
);
