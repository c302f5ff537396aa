import * as z from 'zod/mini';
import { durable, ephemeral } from '../define.js';
import { openObject } from '../schema.js';

/** Agents that work for the agent. */
export const subagentEvents = {
  'session.custom_agents_updated': ephemeral('The custom agents one may choose.', () =>
    openObject({
      agents: z.array(
        openObject({
          description: z.string(),
          displayName: z.string(),
          id: z.string(),
          name: z.string(),
          source: z.string(),
          tools: z.nullable(z.array(z.string())),
          userInvocable: z.boolean(),
          model: z.optional(z.string()),
        }),
      ),
      errors: z.array(z.string()),
      warnings: z.array(z.string()),
    }),
  ),
  'subagent.completed': durable('A subagent finished.', () =>
    openObject({
      agentDisplayName: z.string(),
      agentName: z.string(),
      toolCallId: z.string(),
      cancelled: z.optional(z.boolean()),
      durationMs: z.optional(z.number()),
      model: z.optional(z.string()),
      totalTokens: z.optional(z.number()),
      totalToolCalls: z.optional(z.number()),
    }),
  ),
  'subagent.deselected': durable('The session is led by the default agent again.', () => openObject({})),
  'subagent.failed': durable('A subagent failed.', () =>
    openObject({
      agentDisplayName: z.string(),
      agentName: z.string(),
      error: z.string(),
      toolCallId: z.string(),
      durationMs: z.optional(z.number()),
      model: z.optional(z.string()),
      totalTokens: z.optional(z.number()),
      totalToolCalls: z.optional(z.number()),
    }),
  ),
  'subagent.selected': durable('The session is led by this agent.', () =>
    openObject({
      agentDisplayName: z.string(),
      agentName: z.string(),
      tools: z.nullable(z.array(z.string())),
    }),
  ),
  'subagent.started': durable('A subagent begins its task.', () =>
    openObject({
      agentDescription: z.string(),
      agentDisplayName: z.string(),
      agentName: z.string(),
      toolCallId: z.string(),
      factoryRunId: z.optional(z.string()),
      model: z.optional(z.string()),
    }),
  ),
};
