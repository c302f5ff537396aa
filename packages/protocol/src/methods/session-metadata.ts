import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, text, texts } from '../fields.js';
import { nodeWait } from '../node-wait.js';
import { once, oneOf, openObject } from '../schema.js';
import { sessionLimits, sessionMode, workingDirectoryContext } from '../settings.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef } from './session-ref.js';
import { workspace } from './session-workspaces.js';

/** What a session is, does and holds, at this moment. */
export const sessionMetadataMethods = {
  'session.metadata.getClientMetadata': method(
    'What clients keep with the session, by names of their own.',
    sessionRef,
    () => clientMetadata(),
  ),
  'session.metadata.updateClientMetadata': method(
    'Changes what clients keep with the session: all cleared, some removed, some set, in this order. Answers all of it.',
    () =>
      sparseObject(
        { clear: flag, remove: texts, set: () => z.record(z.string(), z.string()) },
        { sessionId: text },
      ),
    () => clientMetadata(),
  ),
  'session.metadata.activity': method(
    'Whether anything runs, whether it can be stopped, and what it waits for.',
    sessionRef,
    () => openObject({ abortable: z.boolean(), hasActiveWork: z.boolean(), waitingOn: z.array(waitingOn()) }),
  ),
  'session.metadata.contextInfo': method(
    'What fills the window of a model with these limits.',
    () =>
      inSession({
        promptTokenLimit: z.number(),
        outputTokenLimit: z.number(),
        selectedModel: z.optional(z.string()),
      }),
    () => openObject({ contextInfo: z.nullish(contextInfo()) }),
  ),
  'session.metadata.getContextAttribution': method('What fills the window, by source.', sessionRef, () =>
    openObject({ contextAttribution: z.nullish(contextAttribution()) }),
  ),
  'session.metadata.getContextHeaviestMessages': method(
    'The largest messages of the window.',
    () => inSession({ limit: z.optional(z.int().check(z.positive())) }),
    () =>
      openObject({
        totalTokens: z.number(),
        messages: z.array(
          openObject({ id: z.string(), label: z.string(), role: z.string(), tokens: z.number() }),
        ),
      }),
  ),
  'session.metadata.isProcessing': method('Whether a turn runs.', sessionRef, () =>
    openObject({ processing: z.boolean() }),
  ),
  'session.metadata.recomputeContextTokens': method(
    'Counts the window again, as this model counts.',
    () => inSession({ modelId: z.string() }),
    () =>
      openObject({
        totalTokens: z.number(),
        messagesTokenCount: z.number(),
        systemTokenCount: z.number(),
      }),
  ),
  'session.metadata.recordContextChange': method(
    'Records that the working directory or its repository changed.',
    () => inSession({ context: workingDirectoryContext() }),
    () => openObject({}),
  ),
  'session.metadata.setWorkingDirectory': method(
    'Changes the working directory.',
    () => inSession({ workingDirectory: z.string() }),
    () => openObject({ workingDirectory: z.string() }),
  ),
  'session.metadata.snapshot': method('What the session is, in one answer.', sessionRef, () =>
    openObject({
      sessionId: z.string(),
      startTime: z.string(),
      modifiedTime: z.string(),
      isRemote: z.boolean(),
      alreadyInUse: z.boolean(),
      workspacePath: z.nullable(z.string()),
      workingDirectory: z.string(),
      currentMode: sessionMode(),
      sessionLimits: z.nullable(sessionLimits()),
      initialName: z.optional(z.string()),
      clientName: z.optional(z.string()),
      summary: z.optional(z.string()),
      selectedModel: z.optional(z.string()),
      workspace: z.nullish(workspace()),
      waitingOn: z.array(waitingOn()),
    }),
  ),
};

/** One thing that a session waits for; times are of its own process. */
const waitingOn = once(() =>
  oneOf('kind', [
    openObject({ kind: z.literal('model'), since: z.string(), model: z.string(), attempt: z.number() }),
    openObject({
      kind: z.literal('retry'),
      since: z.string(),
      model: z.string(),
      /** The attempt that comes next, and when. */
      attempt: z.number(),
      at: z.string(),
      reason: z.string(),
    }),
    openObject({
      kind: z.literal('agent'),
      since: z.string(),
      agentId: z.string(),
      agentName: z.string(),
      /** It waits until others have ended. */
      isQueued: z.boolean(),
    }),
    openObject({ kind: z.literal('mcp_server'), since: z.string(), serverName: z.string() }),
    openObject({
      kind: z.literal('tool'),
      since: z.string(),
      toolCallId: z.string(),
      toolName: z.string(),
    }),
    openObject({
      kind: z.enum([
        'auto_mode_switch',
        'permission',
        'user_input',
        'elicitation',
        'command',
        'session_limits',
        'exit_plan_mode',
        'sampling',
      ]),
      since: z.string(),
      requestId: z.string(),
    }),
    openObject({
      kind: z.literal('hooks'),
      since: z.string(),
      hookType: z.string(),
      /** Who is to answer. */
      source: z.string(),
    }),
    openObject({
      kind: z.literal('queue'),
      since: z.string(),
      prompts: z.number(),
      /** A client holds the queue: `session.queue.setDrainPaused` has it go on. */
      paused: z.optional(z.boolean()),
    }),
    nodeWait(),
  ]),
);

const contextInfo = once(() =>
  openObject({
    modelName: z.string(),
    systemTokens: z.number(),
    conversationTokens: z.number(),
    toolDefinitionsTokens: z.number(),
    mcpToolsTokens: z.number(),
    totalTokens: z.number(),
    promptTokenLimit: z.number(),
    compactionThreshold: z.number(),
    limit: z.number(),
    bufferTokens: z.number(),
  }),
);

const contextAttribution = once(() =>
  openObject({
    totalTokens: z.number(),
    modelId: z.string(),
    modelSource: z.string(),
    promptTokenLimit: z.number(),
    limit: z.number(),
    bufferTokens: z.number(),
    compactionThreshold: z.number(),
    categories: openObject({
      systemPrompt: z.number(),
      customInstructions: z.number(),
      systemTools: z.number(),
      mcpTools: z.number(),
      messages: z.number(),
      freeSpace: z.number(),
      buffer: z.number(),
    }),
    entries: z.array(
      openObject({
        kind: z.string(),
        id: z.string(),
        label: z.string(),
        tokens: z.number(),
        parentId: z.optional(z.string()),
        attributes: z.optional(z.record(z.string(), z.string())),
      }),
    ),
    compactions: openObject({ count: z.number() }),
  }),
);

const clientMetadata = once(() => z.record(z.string(), z.string()));
