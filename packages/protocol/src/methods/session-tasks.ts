import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, number, text } from '../fields.js';
import { once, openEnum, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';

const task = once(() =>
  openObject({
    type: openEnum(['agent', 'shell']),
    id: text(),
    toolCallId: z.optional(text()),
    displayName: z.optional(text()),
    description: text(),
    status: openEnum(['running', 'idle', 'completed', 'failed', 'cancelled']),
    startedAt: text(),
    completedAt: z.optional(text()),
    activeTimeMs: z.optional(number()),
    error: z.optional(text()),
    agentType: z.optional(text()),
    prompt: z.optional(text()),
    result: z.optional(text()),
    model: z.optional(text()),
    executionMode: z.optional(openEnum(['sync', 'background'])),
    canPromoteToBackground: z.optional(flag()),
    latestResponse: z.optional(text()),
    /** The agent that began it; absent for the root agent. */
    parentAgentId: z.optional(text()),
    depth: z.optional(number()),
    totalTokens: z.optional(number()),
    /** How many messages it has answered. */
    turns: z.optional(number()),
  }),
);

const byId = () => inSession({ id: text() });

/** Agents that work for a session's agent. */
export const sessionTasksMethods = {
  'session.tasks.startAgent': method(
    'Begins an agent in the background.',
    () =>
      inSession({
        agentType: text(),
        prompt: text(),
        name: text(),
        description: z.optional(text()),
        model: z.optional(text()),
      }),
    () => openObject({ agentId: text() }),
  ),
  'session.tasks.list': method('The agents that were begun, in their order.', sessionRef, () =>
    openObject({ tasks: z.array(task()) }),
  ),
  'session.tasks.refresh': method('Nothing has to be looked up: lists are always new.', sessionRef, () =>
    openObject({}),
  ),
  'session.tasks.waitForPending': method('Answers when no agent is at work any more.', sessionRef, () =>
    openObject({}),
  ),
  'session.tasks.getProgress': method('What an agent did last; null for one that is not known.', byId, () =>
    openObject({
      progress: z.nullable(
        openObject({
          type: openEnum(['agent', 'shell']),
          recentActivity: z.array(openObject({ message: text(), timestamp: text() })),
          latestIntent: z.optional(text()),
        }),
      ),
    }),
  ),
  'session.tasks.getCurrentPromotable': method('The agent that the root agent waits for.', sessionRef, () =>
    openObject({ task: z.optional(task()) }),
  ),
  'session.tasks.promoteToBackground': method(
    'Lets the caller of an agent go on without waiting for it.',
    byId,
    () => openObject({ promoted: flag() }),
  ),
  'session.tasks.promoteCurrentToBackground': method(
    'The same for the agent that the root agent waits for.',
    sessionRef,
    () => openObject({ task: z.optional(task()) }),
  ),
  'session.tasks.cancel': method('Ends an agent, and all that it began.', byId, () =>
    openObject({ cancelled: flag() }),
  ),
  'session.tasks.remove': method('Forgets an agent that has ended.', byId, () =>
    openObject({ removed: flag() }),
  ),
  'session.tasks.sendMessage': method(
    'Gives an agent a message; one that has ended works again.',
    () => inSession({ id: text(), message: text(), fromAgentId: z.optional(text()) }),
    () => openObject({ sent: flag(), error: z.optional(text()) }),
  ),
  'session.fleet.start': method(
    'Has the agent split a request up and give the parts to agents of its own.',
    () => inSession({ prompt: z.optional(text()) }),
    () => openObject({ started: flag() }),
  ),
};
