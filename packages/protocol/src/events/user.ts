import * as z from 'zod';
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
      interactionId: z.string().optional(),
      metadata: openObject({
        promptVersion: z.string().optional(),
        variables: z.record(z.string(), z.unknown()).optional(),
      }).optional(),
      name: z.string().optional(),
    }),
  ),
  'system.notification': durable('The runtime tells the agent that something happened.', () =>
    openObject({
      content: z.string(),
      kind: notificationKind(),
    }),
  ),
  'user.message': durable('A prompt joined the conversation.', () =>
    openObject({
      content: z.string(),
      agentMode: agentMode().optional(),
      attachments: z.array(attachment()).optional(),
      delivery: z.enum(['idle', 'steering', 'queued']).optional(),
      interactionId: z.string().optional(),
      /** What `session.send` answered for this prompt. */
      messageId: z.string().optional(),
      isAutopilotContinuation: z.boolean().optional(),
      nativeDocumentPathFallbackPaths: z.array(z.string()).optional(),
      parentAgentTaskId: z.string().optional(),
      source: z.string().optional(),
      supportedNativeDocumentMimeTypes: z.array(z.string()).optional(),
      transformedContent: z.string().optional(),
      turnId: z.string().optional(),
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
      description: z.string().optional(),
      displayName: z.string().optional(),
      prompt: z.string().optional(),
    }),
    openObject({
      type: z.literal('agent_idle'),
      agentId: z.string(),
      agentType: z.string(),
      description: z.string().optional(),
      displayName: z.string().optional(),
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
      description: z.string().optional(),
      exitCode: z.number().optional(),
    }),
    openObject({
      type: z.literal('shell_detached_completed'),
      shellId: z.string(),
      description: z.string().optional(),
    }),
    openObject({
      type: z.literal('instruction_discovered'),
      sourcePath: z.string(),
      triggerFile: z.string(),
      triggerTool: z.string(),
      description: z.string().optional(),
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
      failure: z.unknown().optional(),
      resultPreview: z.string().optional(),
      retryGuidance: z.string().optional(),
    }),
    openObject({ type: z.literal('unclassified'), metadata: z.unknown().optional() }),
  ]),
);
