import * as z from 'zod/mini';
import { method } from '../define.js';
import { flag, number, text } from '../fields.js';
import { once, openEnum, openObject } from '../schema.js';
import { sparseObject } from '../sparse-object.js';
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
    /** Of a command in the background. */
    command: z.optional(text()),
    attachmentMode: z.optional(openEnum(['attached', 'detached'])),
    pid: z.optional(number()),
  }),
);

const clientTaskStatus = () => openEnum(['running', 'idle', 'completed', 'failed', 'cancelled', 'orphaned']);

const clientTask = once(() =>
  openObject({
    type: z.literal('client'),
    id: text(),
    clientTaskId: text(),
    displayName: z.optional(text()),
    description: text(),
    status: clientTaskStatus(),
    owner: openObject({
      participantId: text(),
      joinId: text(),
      kind: openEnum(['extension', 'sdk']),
      displayName: z.optional(text()),
      source: z.optional(text()),
      presence: openEnum(['connected', 'disconnected']),
      disconnectedAt: z.optional(text()),
    }),
    startedAt: text(),
    updatedAt: text(),
    completedAt: z.optional(text()),
    activeTimeMs: number(),
    activeStartedAt: z.optional(text()),
    idleSince: z.optional(text()),
    orphanedAt: z.optional(text()),
    reclaimedAt: z.optional(text()),
    executionMode: z.literal('background'),
    canCancel: flag(),
    sequence: number(),
    result: z.optional(z.unknown()),
    error: z.optional(text()),
    errorCode: z.optional(text()),
    cancellationReason: z.optional(text()),
  }),
);

const line = () => z.string().check(z.maxLength(4096));
const sequence = () => z.int().check(z.nonnegative());

const clientTaskUpdate = once(() =>
  z.union([
    openObject({
      kind: z.literal('progress'),
      status: z.optional(z.enum(['running', 'idle'])),
      message: z.optional(line()),
      phase: z.nullish(line()),
      percentage: z.nullish(z.number().check(z.minimum(0), z.maximum(100))),
    }),
    openObject({
      kind: z.literal('completed'),
      message: z.optional(line()),
      result: z.optional(z.unknown()),
    }),
    openObject({
      kind: z.literal('failed'),
      message: z.optional(line()),
      error: line(),
      code: z.optional(line()),
    }),
    openObject({
      kind: z.literal('cancelled'),
      message: z.optional(line()),
      reason: z.optional(line()),
    }),
  ]),
);

const byId = () => inSession({ id: text() });

/** Agents that work for a session's agent, and what clients work on. */
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
  'session.tasks.list': method(
    'The agents that were begun and the tasks of clients, each in their order.',
    sessionRef,
    () => openObject({ tasks: z.array(z.union([clientTask(), task()])) }),
  ),
  'session.tasks.register': method(
    'Registers work that a client does outside the runtime; under the same id it finds its task again, and takes over one without an owner.',
    () =>
      inSession({
        type: z.literal('client'),
        clientTaskId: z.string().check(z.minLength(1), z.maxLength(256)),
        description: line(),
        displayName: z.optional(line()),
        cancellable: flag(),
        expectedSequence: z.optional(sequence()),
      }),
    () => openObject({ task: clientTask(), created: flag(), reclaimed: flag() }),
  ),
  'session.tasks.update': method(
    'The owner of a task reports its progress or its end, each time with a higher number.',
    () => inSession({ id: text(), sequence: sequence(), update: clientTaskUpdate() }),
    () => openObject({ task: clientTask(), applied: flag(), duplicate: flag() }),
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
          type: openEnum(['agent', 'client', 'shell']),
          recentActivity: z.array(openObject({ message: text(), timestamp: text() })),
          /** Of a command in the background. */
          recentOutput: z.optional(text()),
          latestIntent: z.optional(text()),
          /** Of a client's task. */
          status: z.optional(clientTaskStatus()),
          sequence: z.optional(number()),
          updatedAt: z.optional(text()),
          phase: z.optional(text()),
          percentage: z.optional(number()),
          lastMessage: z.optional(text()),
        }),
      ),
    }),
  ),
  'session.tasks.readOutput': method(
    'What a command in the background wrote after a cursor, at most 64 KiB at once; waits for more up to `waitMs`. What the model reads of it stays the same.',
    () =>
      sparseObject(
        { cursor: text, waitMs: () => z.int().check(z.nonnegative()) },
        { sessionId: text, id: text },
      ),
    () =>
      openObject({
        text: text(),
        cursor: text(),
        /** Once it has ended and all of its output is read. */
        exit: z.optional(
          openObject({
            status: openEnum(['completed', 'failed', 'cancelled']),
            exitCode: z.optional(number()),
          }),
        ),
      }),
  ),
  'session.tasks.getCurrentPromotable': method('The agent that the root agent waits for.', sessionRef, () =>
    openObject({ task: z.optional(task()) }),
  ),
  'session.tasks.promoteToBackground': method(
    'Lets the caller of an agent continue without waiting for it.',
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
    'Makes the agent split a request and give the parts to sub-agents.',
    () => inSession({ prompt: z.optional(text()) }),
    () => openObject({ started: flag() }),
  ),
};
