import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { once, openObject } from '../schema.js';

/** What the model says, whole and piece by piece. */
export const assistantEvents = {
  'assistant.idle': ephemeral('The agent has nothing more to do; background agents may still run.', () =>
    openObject({ aborted: z.optional(z.boolean()) }),
  ),
  'assistant.intent': ephemeral('What the agent says it is about to do.', () =>
    openObject({ intent: z.string() }),
  ),
  'assistant.output': durable('The answer to a prompt that wants one of a form; it fits the schema.', () =>
    openObject({
      interactionId: z.string(),
      name: z.string(),
      value: z.unknown(),
      /** How often the model was asked again. */
      repairs: z.number(),
    }),
  ),
  'assistant.message': durable(
    'One whole answer of the model: its text and the tool calls it asks for.',
    () =>
      openObject({
        content: z.string(),
        messageId: z.string(),
        apiCallId: z.optional(z.string()),
        chunkCount: z.optional(z.number()),
        chunkIndex: z.optional(z.number()),
        citations: z.optional(z.unknown()),
        clientRequestId: z.optional(z.string()),
        encryptedContent: z.optional(z.string()),
        interactionId: z.optional(z.string()),
        model: z.optional(z.string()),
        outputTokens: z.optional(z.number()),
        parentToolCallId: z.optional(z.string()),
        phase: z.optional(z.string()),
        reasoningOpaque: z.optional(z.string()),
        reasoningText: z.optional(z.string()),
        reasoningWireField: z.optional(z.string()),
        requestId: z.optional(z.string()),
        rte: z.optional(z.boolean()),
        serverTools: z.optional(z.unknown()),
        serviceRequestId: z.optional(z.string()),
        toolRequests: z.optional(z.array(toolRequest())),
        turnId: z.optional(z.string()),
      }),
  ),
  'assistant.message_delta': ephemeral('A piece of the text of the message to come.', () =>
    openObject({ deltaContent: z.string(), messageId: z.string(), parentToolCallId: z.optional(z.string()) }),
  ),
  'assistant.message_start': ephemeral('The text of a message begins to stream.', () =>
    openObject({ messageId: z.string(), phase: z.optional(z.string()) }),
  ),
  'assistant.reasoning': durable('What the model thought, whole.', () =>
    openObject({ content: z.string(), reasoningId: z.string(), rte: z.optional(z.boolean()) }),
  ),
  'assistant.reasoning_delta': ephemeral('A piece of what the model thinks.', () =>
    openObject({ deltaContent: z.string(), reasoningId: z.string() }),
  ),
  'assistant.server_tool_progress': ephemeral(
    'A tool that the model service runs itself makes progress.',
    () => openObject({ kind: z.string(), outputIndex: z.number(), status: z.string() }),
  ),
  'assistant.streaming_delta': ephemeral('How much of the answer has arrived, in bytes.', () =>
    openObject({ totalResponseSizeBytes: z.number() }),
  ),
  'assistant.tool_call_delta': ephemeral('A piece of the arguments of the tool call to come.', () =>
    openObject({
      inputDelta: z.string(),
      toolCallId: z.string(),
      toolName: z.optional(z.string()),
      toolType: z.optional(z.enum(['function', 'custom'])),
    }),
  ),
  'assistant.turn_end': durable('One model call and its tool calls are done.', () =>
    openObject({ turnId: z.string(), model: z.optional(z.string()) }),
  ),
  'assistant.turn_start': durable('The model is about to be called.', () =>
    openObject({ turnId: z.string(), interactionId: z.optional(z.string()), model: z.optional(z.string()) }),
  ),
};

const toolRequest = once(() =>
  openObject({
    name: z.string(),
    toolCallId: z.string(),
    arguments: z.optional(z.unknown()),
    intentionSummary: z.optional(z.nullable(z.string())),
    mcpServerName: z.optional(z.string()),
    mcpToolName: z.optional(z.string()),
    toolTitle: z.optional(z.string()),
    type: z.optional(z.enum(['function', 'custom'])),
  }),
);
