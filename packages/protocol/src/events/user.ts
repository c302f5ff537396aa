import * as z from 'zod/mini';
import { attachment } from '../attachment.js';
import { durable, ephemeral } from '../define.js';
import { once, oneOf, openObject } from '../schema.js';
import { agentMode } from '../settings.js';

/** What reaches the agent: prompts, notices, the order to stop. */
export const userEvents = {
  abort: durable('The running turn was stopped.', () =>
    openObject({
      reason: z.enum([
        'user_initiated',
        'remote_command',
        'user_abort',
        'autopilot_credit_limit',
        'subagent_cancelled',
      ]),
    }),
  ),
  'pending_messages.modified': ephemeral('The queue of prompts changed; read it anew.', () => openObject({})),
  'system.message': durable('The system prompt, whenever its text changes.', () =>
    openObject({
      content: z.string(),
      role: z.enum(['system', 'developer']),
      interactionId: z.optional(z.string()),
      metadata: z.optional(
        openObject({
          promptVersion: z.optional(z.string()),
          variables: z.optional(z.record(z.string(), z.unknown())),
        }),
      ),
      name: z.optional(z.string()),
    }),
  ),
  'system.notification': durable('The runtime notifies the agent that something happened.', () =>
    openObject({
      content: z.string(),
      kind: notificationKind(),
    }),
  ),
  'user.message': durable('A prompt joined the conversation.', () =>
    openObject({
      content: z.string(),
      agentMode: z.optional(agentMode()),
      attachments: z.optional(z.array(attachment())),
      delivery: z.optional(z.enum(['idle', 'steering', 'queued'])),
      interactionId: z.optional(z.string()),
      /** What `session.send` answered for this prompt. */
      messageId: z.optional(z.string()),
      isAutopilotContinuation: z.optional(z.boolean()),
      nativeDocumentPathFallbackPaths: z.optional(z.array(z.string())),
      parentAgentTaskId: z.optional(z.string()),
      source: z.optional(z.string()),
      supportedNativeDocumentMimeTypes: z.optional(z.array(z.string())),
      transformedContent: z.optional(z.string()),
      turnId: z.optional(z.string()),
    }),
  ),
};

const notificationKind = once(() =>
  oneOf('type', [
    openObject({
      type: z.literal('agent_completed'),
      agentId: z.string(),
      agentType: z.string(),
      status: z.enum(['completed', 'failed']),
      description: z.optional(z.string()),
      displayName: z.optional(z.string()),
      prompt: z.optional(z.string()),
    }),
    openObject({
      type: z.literal('agent_idle'),
      agentId: z.string(),
      agentType: z.string(),
      description: z.optional(z.string()),
      displayName: z.optional(z.string()),
    }),
    openObject({
      type: z.literal('new_inbox_message'),
      entryId: z.string(),
      senderName: z.string(),
      senderType: z.string(),
      summary: z.string(),
    }),
    openObject({
      type: z.literal('shell_completed'),
      shellId: z.string(),
      description: z.optional(z.string()),
      exitCode: z.optional(z.number()),
    }),
    openObject({
      type: z.literal('shell_detached_completed'),
      shellId: z.string(),
      description: z.optional(z.string()),
    }),
    openObject({
      type: z.literal('instruction_discovered'),
      sourcePath: z.string(),
      triggerFile: z.string(),
      triggerTool: z.string(),
      description: z.optional(z.string()),
    }),
    openObject({
      type: z.literal('factory_completed'),
      attempt: z.number(),
      consumedNanoAiu: z.number(),
      consumedSubagents: z.number(),
      elapsedMs: z.number(),
      factoryName: z.string(),
      runId: z.string(),
      status: z.enum(['completed', 'halted', 'cancelled', 'error']),
      failure: z.optional(z.unknown()),
      resultPreview: z.optional(z.string()),
      retryGuidance: z.optional(z.string()),
    }),
    openObject({ type: z.literal('unclassified'), metadata: z.optional(z.unknown()) }),
  ]),
);
