import * as z from 'zod/mini';
import { method } from '../define.js';
import { once, openObject } from '../schema.js';
import { inSession, sessionRef } from './session-ref.js';
import { agentTask, inBody, limits, pauseInfo, progressPage, runDetail, runRef } from './session-workflow.js';

/** Factories: bodies that extensions run for a session, with a journal. */
export const sessionFactoryMethods = {
  'session.factory.agent': method(
    'A body runs a sub-agent; answers with its result.',
    () => inSession({ factoryRunId: z.string(), ...agentTask() }),
    () => openObject({ result: z.optional(z.unknown()) }),
  ),
  'session.factory.cancel': method('Ends a run.', runRef, () => factoryRun()),
  'session.factory.getRun': method('A run as it is now.', runRef, () => factoryRun()),
  'session.factory.getRunDetail': method(
    'A run with its phases, its sub-agents and the newest lines of its progress.',
    runRef,
    () => openObject({ factoryName: z.string(), status: z.enum(statuses), ...runDetail() }),
  ),
  'session.factory.getRunProgress': method(
    'The progress that a body has reported, a page at a time.',
    () =>
      inSession({
        runId: z.string(),
        afterSeq: z.optional(z.number()),
        beforeSeq: z.optional(z.number()),
        limit: z.optional(z.int().check(z.positive())),
      }),
    () => progressPage(),
  ),
  'session.factory.journal.get': method(
    'What a step of a run yielded before.',
    () => inBody({ key: z.string() }),
    () => openObject({ hit: z.boolean(), resultJson: z.optional(z.unknown()) }),
  ),
  'session.factory.journal.put': method(
    'Keeps what a step of a run yielded: it is not repeated.',
    () => inBody({ key: z.string(), resultJson: z.unknown() }),
    () => openObject({}),
  ),
  'session.factory.listRuns': method('The runs of a session.', sessionRef, () =>
    openObject({
      runs: z.array(
        openObject({
          runId: z.string(),
          factoryName: z.string(),
          description: z.string(),
          status: z.string(),
          revision: z.number(),
          createdAt: z.number(),
          startedAt: z.nullable(z.number()),
          updatedAt: z.number(),
          completedAt: z.nullable(z.number()),
          totalSpawnedAgentCount: z.number(),
        }),
      ),
    }),
  ),
  'session.factory.log': method(
    'A body reports its progress.',
    () =>
      inBody({
        lines: z.array(openObject({ seq: z.number(), kind: z.string(), text: z.string() })),
      }),
    () => openObject({}),
  ),
  'session.factory.pause': method('Stops the attempt that runs; the run can be resumed.', runRef, () =>
    openObject({
      runId: z.string(),
      attempt: z.number(),
      status: z.enum([...statuses, 'paused']),
      result: z.optional(z.unknown()),
      error: z.optional(z.string()),
      pauseInfo: z.optional(pauseInfo()),
    }),
  ),
  'session.factory.pauseAtCheckpoint': method(
    'A body pauses its run at this place; when the run is resumed, the call returns.',
    () => inBody({ key: z.string() }),
    () => openObject({ action: z.enum(['continue', 'pause']) }),
  ),
  'session.factory.resume': method(
    'Resumes a run that ended early.',
    () => inSession({ runId: z.string(), limits: z.optional(limits()) }),
    () => openObject({ factoryName: z.string(), run: factoryRun() }),
  ),
  'session.factory.run': method(
    'Begins a run; `session.factory.getRun` says how it ended.',
    () =>
      inSession({
        name: z.string(),
        args: z.optional(z.unknown()),
        options: z.optional(openObject({ limits: z.optional(limits()) })),
      }),
    () => factoryRun(),
  ),
};

const statuses = ['pending', 'running', 'completed', 'halted', 'cancelled', 'error'] as const;

const factoryRun = once(() =>
  openObject({
    runId: z.string(),
    status: z.enum(statuses),
    result: z.optional(z.unknown()),
    error: z.optional(z.string()),
  }),
);
