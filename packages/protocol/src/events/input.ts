import * as z from 'zod';
import { ephemeral } from '../define.js';
import { openObject } from '../schema.js';
import { exitPlanAction } from '../settings.js';

/** Questions to people other than permission, and commands of clients. */
export const inputEvents = {
  'auto_mode_switch.completed': ephemeral('Whether to go on with another model was answered.', () =>
    openObject({ requestId: z.string(), response: z.enum(['yes', 'yes_always', 'no']) }),
  ),
  'auto_mode_switch.requested': ephemeral('The model is rate limited: go on with another one?', () =>
    openObject({
      requestId: z.string(),
      errorCode: z.string().optional(),
      retryAfterSeconds: z.number().optional(),
    }),
  ),
  'command.completed': ephemeral('A client finished a command.', () => openObject({ requestId: z.string() })),
  'command.execute': ephemeral('The client that owns this command is asked to run it.', () =>
    openObject({ args: z.string(), command: z.string(), commandName: z.string(), requestId: z.string() }),
  ),
  'command.queued': ephemeral('A command waits for its turn.', () =>
    openObject({ command: z.string(), requestId: z.string() }),
  ),
  'elicitation.completed': ephemeral('A form was filled in, declined or cancelled.', () =>
    openObject({
      requestId: z.string(),
      action: z.enum(['accept', 'decline', 'cancel']).optional(),
      content: z.record(z.string(), z.unknown()).optional(),
    }),
  ),
  'elicitation.requested': ephemeral('A form, or a page to visit, is put to people.', () =>
    openObject({
      message: z.string(),
      requestId: z.string(),
      elicitationSource: z.string().optional(),
      mode: z.enum(['form', 'url']).optional(),
      requestedSchema: openObject({
        type: z.literal('object'),
        properties: z.record(z.string(), z.unknown()),
        required: z.array(z.string()).optional(),
      }).optional(),
      toolCallId: z.string().optional(),
      url: z.string().optional(),
    }),
  ),
  'exit_plan_mode.completed': ephemeral('What follows the plan was answered.', () =>
    openObject({
      requestId: z.string(),
      approved: z.boolean().optional(),
      autoApproveEdits: z.boolean().optional(),
      feedback: z.string().optional(),
      selectedAction: exitPlanAction().optional(),
    }),
  ),
  'exit_plan_mode.requested': ephemeral('The plan is ready: what should follow?', () =>
    openObject({
      actions: z.array(exitPlanAction()),
      planContent: z.string(),
      recommendedAction: exitPlanAction(),
      requestId: z.string(),
      summary: z.string(),
      model: z.string().optional(),
    }),
  ),
  'sampling.completed': ephemeral('A request of an MCP server for a model call was answered.', () =>
    openObject({ requestId: z.string() }),
  ),
  'sampling.requested': ephemeral('An MCP server asks for a model call.', () =>
    openObject({ mcpRequestId: z.unknown(), requestId: z.string(), serverName: z.string() }),
  ),
  'session_limits_exhausted.completed': ephemeral('What to do about the spent limit was answered.', () =>
    openObject({
      requestId: z.string(),
      response: openObject({
        action: z.enum(['add', 'set', 'unset', 'cancel']),
        additionalAiCredits: z.number().optional(),
        maxAiCredits: z.number().optional(),
      }),
    }),
  ),
  'session_limits_exhausted.requested': ephemeral('The session has spent what it may: go on?', () =>
    openObject({ maxAiCredits: z.number(), requestId: z.string(), usedAiCredits: z.number() }),
  ),
  'ui.ephemeral_query': ephemeral('A question beside the conversation, and its answer as it comes.', () =>
    openObject({
      phase: z.enum(['started', 'chunk', 'completed', 'failed', 'aborted']),
      requestId: z.string(),
      answer: z.string().optional(),
      chunk: z.string().optional(),
      error: z.string().optional(),
    }),
  ),
  'user_input.completed': ephemeral('A question of the agent was answered.', () =>
    openObject({ requestId: z.string(), answer: z.string().optional(), wasFreeform: z.boolean().optional() }),
  ),
  'user_input.requested': ephemeral('The agent asks people a question.', () =>
    openObject({
      question: z.string(),
      requestId: z.string(),
      allowFreeform: z.boolean().optional(),
      choices: z.array(z.string()).optional(),
      toolCallId: z.string().optional(),
    }),
  ),
};
