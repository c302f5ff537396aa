import * as z from 'zod/mini';
import { ephemeral } from '../define.js';
import { openObject } from '../schema.js';
import { exitPlanAction } from '../settings.js';

/** Questions to users other than permission, and commands of clients. */
export const inputEvents = {
  'auto_mode_switch.completed': ephemeral('Whether to go on with another model was answered.', () =>
    openObject({ requestId: z.string(), response: z.enum(['yes', 'yes_always', 'no']) }),
  ),
  'auto_mode_switch.requested': ephemeral('The model is rate limited: go on with another one?', () =>
    openObject({
      requestId: z.string(),
      errorCode: z.optional(z.string()),
      retryAfterSeconds: z.optional(z.number()),
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
      action: z.optional(z.enum(['accept', 'decline', 'cancel'])),
      content: z.optional(z.record(z.string(), z.unknown())),
    }),
  ),
  'elicitation.requested': ephemeral('A form, or a page to visit, is put to users.', () =>
    openObject({
      message: z.string(),
      requestId: z.string(),
      elicitationSource: z.optional(z.string()),
      mode: z.optional(z.enum(['form', 'url'])),
      requestedSchema: z.optional(
        openObject({
          type: z.literal('object'),
          properties: z.record(z.string(), z.unknown()),
          required: z.optional(z.array(z.string())),
        }),
      ),
      toolCallId: z.optional(z.string()),
      url: z.optional(z.string()),
    }),
  ),
  'exit_plan_mode.completed': ephemeral('What follows the plan was answered.', () =>
    openObject({
      requestId: z.string(),
      approved: z.optional(z.boolean()),
      autoApproveEdits: z.optional(z.boolean()),
      feedback: z.optional(z.string()),
      selectedAction: z.optional(exitPlanAction()),
    }),
  ),
  'exit_plan_mode.requested': ephemeral('The plan is ready: what should follow?', () =>
    openObject({
      actions: z.array(exitPlanAction()),
      planContent: z.string(),
      recommendedAction: exitPlanAction(),
      requestId: z.string(),
      summary: z.string(),
      model: z.optional(z.string()),
    }),
  ),
  'sampling.completed': ephemeral('A request of an MCP server for a model call was answered.', () =>
    openObject({ requestId: z.string() }),
  ),
  'sampling.requested': ephemeral('An MCP server asks for a model call, which clients answer.', () =>
    openObject({
      mcpRequestId: z.unknown(),
      requestId: z.string(),
      serverName: z.string(),
      /** What the server asks: `messages`, `systemPrompt`, `maxTokens`. */
      request: z.optional(z.record(z.string(), z.unknown())),
    }),
  ),
  'session_limits_exhausted.completed': ephemeral('What to do about the spent limit was answered.', () =>
    openObject({
      requestId: z.string(),
      response: limitsDecision(),
    }),
  ),
  'session_limits_exhausted.requested': ephemeral('The session has reached a limit: continue?', () =>
    openObject({
      maxAiCredits: z.number(),
      requestId: z.string(),
      usedAiCredits: z.number(),
      /** Which limit it is, and in its own unit what it allows and what is spent of it. */
      limit: z.optional(z.enum(['maxAiCredits', 'maxCost', 'maxTokens', 'maxCalls'])),
      max: z.optional(z.number()),
      used: z.optional(z.number()),
    }),
  ),
  'ui.ephemeral_query': ephemeral('A question beside the conversation, and its answer as it comes.', () =>
    openObject({
      phase: z.enum(['started', 'chunk', 'completed', 'failed', 'aborted']),
      requestId: z.string(),
      answer: z.optional(z.string()),
      chunk: z.optional(z.string()),
      error: z.optional(z.string()),
    }),
  ),
  'user_input.completed': ephemeral('A question of the agent was answered.', () =>
    openObject({
      requestId: z.string(),
      answer: z.optional(z.string()),
      wasFreeform: z.optional(z.boolean()),
    }),
  ),
  'user_input.requested': ephemeral('The agent asks users a question.', () =>
    openObject({
      question: z.string(),
      requestId: z.string(),
      allowFreeform: z.optional(z.boolean()),
      choices: z.optional(z.array(z.string())),
      toolCallId: z.optional(z.string()),
    }),
  ),
};

/** The user's decision about a session that has reached a limit. */
export function limitsDecision() {
  return openObject({
    action: z.enum(['add', 'set', 'unset', 'cancel']),
    additionalAiCredits: z.optional(z.number()),
    maxAiCredits: z.optional(z.number()),
    /** In the unit of the limit that is spent, whichever it is. */
    additional: z.optional(z.number()),
    max: z.optional(z.number()),
  });
}
