import * as z from 'zod';
import { method } from '../define.js';
import { once, openEnum, openObject } from '../schema.js';

/** One callback for every hook point; `hookPoints` says what goes in and out at each. */
export const hookCallbacks = {
  'hooks.invoke': method(
    'Calls the hooks of a client; null or no output is no opinion.',
    () =>
      openObject({
        sessionId: z.string(),
        hookType: openEnum([
          'agentStop',
          'errorOccurred',
          'postToolUse',
          'postToolUseFailure',
          'preMcpToolCall',
          'preToolUse',
          'sessionEnd',
          'sessionStart',
          'subagentStart',
          'subagentStop',
          'userPromptSubmitted',
          'userPromptTransformed',
        ]),
        input: z.unknown(),
      }),
    () => openObject({ output: z.unknown().optional() }),
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
    () => openObject({ decision: openEnum(['block']).nullish(), reason: z.string().nullish() }),
  ),
  errorOccurred: method(
    'A model call or a tool failed.',
    () =>
      openObject({
        ...common(),
        error: z.string(),
        errorContext: openEnum(['model_call', 'tool_execution']),
        recoverable: z.boolean(),
      }),
    () => openObject({}),
  ),
  postToolUse: method(
    'A tool call succeeded.',
    () => openObject({ ...common(), ...toolCall(), toolResult: toolResult() }),
    () => openObject({ modifiedResult: z.unknown().optional(), ...context() }),
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
        toolCallId: z.string().optional(),
        _meta: z.unknown().optional(),
      }),
    /** An object replaces `_meta`, null removes it, absent keeps it. */
    () => openObject({ metaToUse: z.record(z.string(), z.unknown()).nullish() }),
  ),
  preToolUse: method(
    'A tool call is about to be judged.',
    () => openObject({ ...common(), ...toolCall() }),
    () =>
      openObject({
        permissionDecision: z.enum(['allow', 'deny', 'ask']).nullish(),
        permissionDecisionReason: z.string().nullish(),
        modifiedArgs: z.unknown().optional(),
        ...context(),
      }),
  ),
  sessionEnd: method(
    'A turn is over.',
    () =>
      openObject({
        ...common(),
        reason: openEnum(['complete', 'error', 'abort']),
        finalMessage: z.string().optional(),
        error: z.string().optional(),
      }),
    () => openObject({}),
  ),
  sessionStart: method(
    'The first turn begins; context becomes a message before the prompt.',
    () =>
      openObject({
        ...common(),
        source: z.enum(['new', 'startup', 'resume']),
        initialPrompt: z.string().optional(),
      }),
    () => openObject(context()),
  ),
  subagentStart: method(
    'A subagent begins.',
    () => openObject({ ...common(), ...subagent() }),
    () => openObject({}),
  ),
  subagentStop: method(
    'A subagent ends.',
    () =>
      openObject({
        ...common(),
        ...subagent(),
        stopReason: z.string().optional(),
        response: z.string().optional(),
      }),
    () => openObject({}),
  ),
  userPromptSubmitted: method(
    'A prompt came, from people or from the runtime.',
    () => openObject({ ...common(), prompt: z.string() }),
    () => openObject({ modifiedPrompt: z.string().nullish(), ...context() }),
  ),
  userPromptTransformed: method(
    'The prompt stands as the model will see it.',
    () => openObject({ ...common(), prompt: z.string(), transformedPrompt: z.string() }),
    () => openObject({ modifiedTransformedPrompt: z.string().nullish() }),
  ),
};

/** The table of hook points as a type. */
export type HookPoints = typeof hookPoints;

/** The name of a hook point. */
export type HookType = keyof HookPoints;

/** What every hook is told. */
const common = () => ({
  /** The subagent's id inside a subagent, otherwise the session's. */
  sessionId: z.string(),
  /** Milliseconds since 1970. */
  timestamp: z.number(),
  cwd: z.string(),
});

const context = () => ({ additionalContext: z.string().nullish() });

const toolCall = () => ({ toolName: z.string(), toolArgs: z.unknown() });

const subagent = () => ({
  agentName: z.string(),
  transcriptPath: z.string(),
  agentType: z.string().optional(),
  agentId: z.string().optional(),
});

const toolResult = once(() =>
  openObject({
    resultType: z.string(),
    textResultForLlm: z.string(),
    sessionLog: z.string().optional(),
    toolTelemetry: z.record(z.string(), z.unknown()).optional(),
  }),
);
