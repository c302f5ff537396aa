import * as z from 'zod/mini';
import { clientToolResult } from '../content.js';
import { method } from '../define.js';
import { text } from '../fields.js';
import { openEnum, openObject } from '../schema.js';
import { clientTool, subagentSettings } from '../session-config.js';
import { sparseObject } from '../sparse-object.js';
import { inSession, sessionRef, success } from './session-ref.js';

/** Tools as clients see and serve them. */
export const sessionToolsMethods = {
  'session.tools.getCurrentMetadata': method(
    'The tools the model sees; null until the first turn, or `initializeAndValidate`, has put them together.',
    sessionRef,
    () =>
      openObject({
        tools: z.nullable(
          z.array(
            openObject({
              name: z.string(),
              description: z.string(),
              namespacedName: z.optional(z.string()),
              mcpServerName: z.optional(z.string()),
              mcpToolName: z.optional(z.string()),
              input_schema: z.optional(z.record(z.string(), z.unknown())),
              deferLoading: z.optional(z.boolean()),
            }),
          ),
        ),
      }),
  ),
  'session.tools.execute': method(
    "Runs a tool of the session for the app, through the same gate as the model's calls, with hooks, rules and questions. The model does not see it.",
    () =>
      inSession({ name: z.string(), arguments: z.optional(z.unknown()), toolCallId: z.optional(z.string()) }),
    () =>
      openObject({
        resultType: openEnum(['success', 'failure', 'rejected', 'denied', 'timeout']),
        textResultForLlm: z.string(),
        error: z.optional(z.string()),
        sessionLog: z.optional(z.string()),
        binaryResultsForLlm: z.optional(z.array(z.record(z.string(), z.unknown()))),
        contents: z.optional(z.array(z.record(z.string(), z.unknown()))),
        structuredContent: z.optional(z.unknown()),
        mcpMeta: z.optional(z.unknown()),
        toolTelemetry: z.optional(z.record(z.string(), z.unknown())),
      }),
  ),
  'session.tools.initializeAndValidate': method(
    'Puts the tools together now; fails where a turn would, such as for a tool that has the name of a built-in one.',
    sessionRef,
    () => openObject({}),
  ),
  'session.tools.updateSubagentSettings': method(
    'Sets models, limits, number and depth of sub-agents from now on; null for the defaults.',
    () => inSession({ subagents: z.nullish(subagentSettings()) }),
    () => openObject({}),
  ),
  'session.tools.getSubagentSettings': method(
    'The settings for sub-agents as clients sent them; null when none did.',
    sessionRef,
    () => openObject({ subagents: z.nullable(subagentSettings()) }),
  ),
  'session.tools.listPendingRequests': method(
    "The calls of clients' tools that wait for `handlePendingToolCall`, those of sub-agents too.",
    sessionRef,
    () =>
      openObject({
        items: z.array(
          openObject({
            requestId: z.string(),
            toolCallId: z.string(),
            toolName: z.string(),
            arguments: z.optional(z.unknown()),
            agentId: z.optional(z.string()),
          }),
        ),
      }),
  ),
  'session.tools.set': method(
    'Replaces all tools that this client brought; those of others stay.',
    () => inSession({ tools: z.array(clientTool()) }),
    () => openObject({}),
  ),
  'session.tools.handlePendingToolCall': method(
    "Answers a call of a client's tool; false when it was answered before. Neither result nor error is an empty result.",
    () =>
      sparseObject(
        { result: () => z.union([text(), clientToolResult()]), error: text },
        { sessionId: text, requestId: text },
      ),
    success,
  ),
};
