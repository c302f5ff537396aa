import * as z from 'zod/mini';
import { method } from '../define.js';
import { once, openEnum, openObject } from '../schema.js';
import { hookTypes } from './hook-types.js';

/** One callback for every hook point; `hookPoints` says what goes in and out at each. */
export const hookCallbacks = {
  'hooks.invoke': method(
    'Calls the hooks of a client; null or no output is no opinion.',
    () =>
      openObject({
        sessionId: z.string(),
        hookType: openEnum(hookTypes),
        input: z.unknown(),
      }),
    () => z.nullish(openObject({ output: z.optional(z.unknown()) })),
  ),
};

/** The points of a turn where a client may step in. An output of another shape is an error, and errors deny. */
export const hookPoints = {
  agentStop: method(
    'The turn is about to settle; `block` puts `reason` to the agent as a new prompt.',
    () =>
      openObject({
        ...common(),
        transcriptPath: z.string(),
        stopReason: z.literal('end_turn'),
        stop_hook_active: z.boolean(),
      }),
    () => openObject({ decision: z.nullish(openEnum(['block'])), reason: z.nullish(z.string()), ...shown() }),
  ),
  errorOccurred: method(
    'Something failed: a model call, a tool, the runtime, or the reading of a prompt.',
    () =>
      openObject({
        ...common(),
        error: z.string(),
        errorContext: openEnum(['model_call', 'tool_execution', 'system', 'user_input']),
        recoverable: z.boolean(),
      }),
    () =>
      openObject({
        errorHandling: z.nullish(z.enum(['retry', 'skip', 'abort'])),
        retryCount: z.nullish(z.number()),
        ...shown(),
      }),
  ),
  postToolUse: method(
    'A tool call succeeded.',
    () => openObject({ ...common(), ...toolCall(), toolResult: toolResult() }),
    () =>
      openObject({
        /** A result as tools of clients return it, or its text. */
        modifiedResult: z.nullish(z.union([z.string(), z.record(z.string(), z.unknown())])),
        ...context(),
      }),
  ),
  postToolUseFailure: method(
    'A tool call failed; a denied one does not count.',
    () => openObject({ ...common(), ...toolCall(), error: z.string() }),
    () => openObject(context()),
  ),
  preMcpToolCall: method(
    'A tool of an MCP server is about to be called.',
    () =>
      openObject({
        ...common(),
        serverName: z.string(),
        toolName: z.string(),
        arguments: z.unknown(),
        toolCallId: z.optional(z.string()),
        _meta: z.optional(z.unknown()),
      }),
    () =>
      openObject({
        /** An object replaces `_meta`, null removes it, absent keeps it. */
        metaToUse: z.nullish(z.record(z.string(), z.unknown())),
        /** The call was judged before: to deny it is all that is left to decide. */
        permissionDecision: z.nullish(z.enum(['allow', 'deny'])),
        permissionDecisionReason: z.nullish(z.string()),
        ...shown(),
      }),
  ),
  preToolUse: method(
    'A tool call is about to be judged.',
    () => openObject({ ...common(), ...toolCall() }),
    () =>
      openObject({
        permissionDecision: z.nullish(z.enum(['allow', 'deny', 'ask'])),
        permissionDecisionReason: z.nullish(z.string()),
        modifiedArgs: z.optional(z.unknown()),
        ...context(),
      }),
  ),
  sessionEnd: method(
    'A turn is over.',
    () =>
      openObject({
        ...common(),
        reason: openEnum(['complete', 'error', 'abort', 'timeout', 'user_exit']),
        finalMessage: z.optional(z.string()),
        error: z.optional(z.string()),
      }),
    () =>
      openObject({
        sessionSummary: z.nullish(z.string()),
        cleanupActions: z.optional(z.unknown()),
        ...shown(),
      }),
  ),
  sessionStart: method(
    'The first turn begins; context becomes a message before the prompt.',
    () =>
      openObject({
        ...common(),
        source: z.enum(['new', 'startup', 'resume']),
        initialPrompt: z.optional(z.string()),
      }),
    () => openObject({ modifiedConfig: z.nullish(modifiedConfig()), ...context() }),
  ),
  subagentStart: method(
    'A subagent begins.',
    () => openObject({ ...common(), ...subagent() }),
    () => openObject(shown()),
  ),
  subagentStop: method(
    'A subagent ends.',
    () =>
      openObject({
        ...common(),
        ...subagent(),
        stopReason: z.optional(z.string()),
        response: z.optional(z.string()),
      }),
    () => openObject(shown()),
  ),
  userPromptSubmitted: method(
    'A prompt came, from users or from the runtime.',
    () => openObject({ ...common(), prompt: z.string() }),
    () => openObject({ modifiedPrompt: z.nullish(z.string()), ...context() }),
  ),
  userPromptTransformed: method(
    'The prompt stands as the model will see it.',
    () => openObject({ ...common(), prompt: z.string(), transformedPrompt: z.string() }),
    () => openObject({ modifiedTransformedPrompt: z.nullish(z.string()), ...shown() }),
  ),
};

/** The table of hook points as a type. */
export type HookPoints = typeof hookPoints;

/** The name of a hook point. */
export type HookType = keyof HookPoints;

/** What every hook receives. */
const common = () => ({
  /** The subagent's id inside a subagent, otherwise the session's. */
  sessionId: z.string(),
  /** Milliseconds since 1970. */
  timestamp: z.number(),
  cwd: z.string(),
});

const shown = () => ({ userNotification: z.nullish(z.string()), suppressOutput: z.nullish(z.boolean()) });

const context = () => ({ additionalContext: z.nullish(z.string()), ...shown() });

/** What a hook may set anew of the session it starts. */
const modifiedConfig = once(() =>
  openObject({
    model: z.nullish(z.string()),
    reasoningEffort: z.nullish(z.string()),
    availableTools: z.nullish(z.array(z.string())),
    excludedTools: z.nullish(z.array(z.string())),
  }),
);

const toolCall = () => ({ toolName: z.string(), toolArgs: z.unknown() });

const subagent = () => ({
  agentName: z.string(),
  transcriptPath: z.string(),
  agentType: z.optional(z.string()),
  agentId: z.optional(z.string()),
});

const toolResult = once(() =>
  openObject({
    resultType: z.string(),
    textResultForLlm: z.string(),
    sessionLog: z.optional(z.string()),
    toolTelemetry: z.optional(z.record(z.string(), z.unknown())),
  }),
);
