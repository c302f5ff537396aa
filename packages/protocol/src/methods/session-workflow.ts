import * as z from 'zod/mini';
import { method } from '../define.js';
import { openEnum, openObject } from '../schema.js';
import { inSession } from './session-ref.js';

/** Workflows: factories under their new name, with phases and pauses. */
export const sessionWorkflowMethods = {
  'session.workflow.agent': method(
    'A body runs a sub-agent; answers with its result.',
    () => inSession({ workflowRunId: z.string(), ...agentTask() }),
    () => openObject({ result: z.optional(z.unknown()) }),
  ),
  'session.workflow.cancel': method('Ends a run.', runRef, () => workflowRun()),
  'session.workflow.getRun': method('A run as it is now.', runRef, () => workflowRun()),
  'session.workflow.getRunDetail': method(
    'A run with its phases, its sub-agents and the newest lines of its progress.',
    runRef,
    () => openObject({ workflowName: z.string(), status: status(), ...runDetail() }),
  ),
  'session.workflow.getRunProgress': method(
    'The progress that a body has reported, a page at a time.',
    () =>
      inSession({
        runId: z.string(),
        phaseId: z.optional(z.string()),
        afterSeq: z.optional(z.number()),
        beforeSeq: z.optional(z.number()),
        limit: z.optional(z.int().check(z.positive())),
      }),
    () => progressPage(),
  ),
  'session.workflow.journal.get': method(
    'What a step of a run yielded before.',
    () => inBody({ key: z.string() }),
    () => openObject({ hit: z.boolean(), resultJson: z.optional(z.unknown()) }),
  ),
  'session.workflow.journal.put': method(
    'Keeps what a step of a run yielded: it is not repeated.',
    () => inBody({ key: z.string(), resultJson: z.unknown() }),
    () => openObject({}),
  ),
  'session.workflow.listRuns': method(
    'The runs of a session, the oldest first; without bounds the newest of them.',
    () =>
      inSession({
        afterSeq: z.optional(z.number()),
        beforeSeq: z.optional(z.number()),
        limit: z.optional(z.int().check(z.positive())),
      }),
    () =>
      openObject({
        runs: z.array(openObject({ workflowName: z.string(), status: status(), ...runSummary() })),
        oldestSeq: z.nullable(z.number()),
        newestSeq: z.nullable(z.number()),
        hasMoreNewer: z.boolean(),
        omittedOlder: z.number(),
      }),
  ),
  'session.workflow.log': method(
    'A body reports its progress.',
    () =>
      inBody({
        lines: z.array(openObject({ seq: z.number(), kind: openEnum(['log', 'phase']), text: z.string() })),
      }),
    () => openObject({}),
  ),
  'session.workflow.pause': method('Stops the attempt that runs; the run can be resumed.', runRef, () =>
    workflowRun(),
  ),
  'session.workflow.pauseAtCheckpoint': method(
    'A body pauses its run at this place; when the run is resumed, the call returns.',
    () => inBody({ key: z.string() }),
    () => openObject({ action: z.enum(['continue', 'pause']) }),
  ),
  'session.workflow.resume': method(
    'Resumes a run that ended early or is paused.',
    () =>
      inSession({
        runId: z.string(),
        limits: z.optional(limits()),
        notifyOnComplete: z.optional(z.boolean()),
        logPhaseNames: z.optional(z.boolean()),
      }),
    () => openObject({ workflowName: z.string(), run: workflowRun() }),
  ),
  'session.workflow.run': method(
    'Begins a run; `session.workflow.getRun` says how it ended.',
    () =>
      inSession({
        name: z.string(),
        args: z.optional(z.unknown()),
        options: z.optional(
          openObject({
            limits: z.optional(limits()),
            notifyOnComplete: z.optional(z.boolean()),
            logPhaseNames: z.optional(z.boolean()),
            resumeFromRunId: z.optional(z.string()),
          }),
        ),
      }),
    () => workflowRun(),
  ),
};

/** Params of a method of one run. */
export function runRef() {
  return inSession({ runId: z.string() });
}

/** Params of what a body asks while it runs. */
export function inBody<const S extends z.core.$ZodLooseShape>(shape: S) {
  return inSession({ runId: z.string(), executionToken: z.string(), ...shape });
}

/** What a body has a sub-agent do; the id of its run stands beside it. */
export function agentTask() {
  return {
    executionToken: z.string(),
    prompt: z.string(),
    opts: z.optional(
      openObject({
        label: z.optional(z.string()),
        schema: z.optional(z.unknown()),
        model: z.optional(z.string()),
        reasoningEffort: z.optional(z.string()),
        contextTier: z.optional(z.string()),
        agent: z.optional(z.string()),
      }),
    ),
  };
}

/** What a run may take. */
export function limits() {
  return openObject({
    maxConcurrentSubagents: z.nullish(z.number()),
    maxTotalSubagents: z.nullish(z.number()),
    timeoutSeconds: z.nullish(z.number()),
    maxAiCredits: z.nullish(z.number()),
  });
}

const status = () => z.enum(['pending', 'running', 'completed', 'halted', 'paused', 'cancelled', 'error']);

/** Who paused a run, and at which place of it. */
export const pauseInfo = () =>
  openObject({ type: openEnum(['user', 'checkpoint']), key: z.optional(z.string()) });

function workflowRun() {
  return openObject({
    runId: z.string(),
    attempt: z.number(),
    status: status(),
    result: z.optional(z.unknown()),
    error: z.optional(z.string()),
    pauseInfo: z.optional(pauseInfo()),
  });
}

/** Some of what a body wrote of its progress, and what lies before and after it. */
export function progressPage() {
  return openObject({
    records: z.array(
      openObject({
        seq: z.number(),
        attempt: z.number(),
        phaseId: z.nullable(z.string()),
        recordedAt: z.number(),
        kind: z.string(),
        text: z.string(),
      }),
    ),
    oldestSeq: z.nullable(z.number()),
    newestSeq: z.nullable(z.number()),
    hasMoreOlder: z.boolean(),
    hasMoreNewer: z.boolean(),
    revision: z.number(),
  });
}

/** A run with its phases, its sub-agents and the newest lines of its progress; its name and its status stand beside them. */
export function runDetail() {
  return {
    ...runSummary(),
    phases: z.array(
      openObject({
        id: z.string(),
        ordinal: z.nullable(z.number()),
        title: z.string(),
        detail: z.optional(z.string()),
        status: z.enum(['pending', 'active', 'completed', 'skipped']),
        lastEnteredRunAttempt: z.number(),
        entryCount: z.number(),
        startedAt: z.optional(z.number()),
        completedAt: z.optional(z.number()),
        accumulatedActiveMs: z.number(),
        currentActiveMs: z.number(),
        totalAgentCount: z.number(),
        liveAgentCount: z.number(),
      }),
    ),
    agents: z.array(
      openObject({
        agentId: z.string(),
        toolCallId: z.string(),
        runId: z.string(),
        phaseId: z.nullable(z.string()),
        label: z.string(),
        displayName: z.optional(z.string()),
        agentType: z.string(),
        status: z.string(),
        requestedModel: z.optional(z.string()),
        resolvedModel: z.optional(z.string()),
        startedAt: z.optional(z.number()),
        completedAt: z.optional(z.number()),
        activeMs: z.number(),
      }),
    ),
    progress: progressPage(),
  };
}

/** A run in numbers; its name and its status stand beside them. */
function runSummary() {
  const declared = () =>
    openObject({
      maxConcurrentSubagents: z.optional(z.number()),
      maxTotalSubagents: z.optional(z.number()),
      timeoutSeconds: z.optional(z.number()),
    });
  return {
    runId: z.string(),
    description: z.string(),
    revision: z.number(),
    createdAt: z.number(),
    startedAt: z.nullable(z.number()),
    updatedAt: z.number(),
    completedAt: z.nullable(z.number()),
    currentPhase: z.nullable(openObject({ id: z.string(), ordinal: z.nullable(z.number()) })),
    declaredPhaseCount: z.number(),
    liveAgentCount: z.number(),
    totalSpawnedAgentCount: z.number(),
    /** Credits are not counted for runs: `nanoAiu` is 0. */
    consumed: openObject({ activeMs: z.number(), subagents: z.number(), nanoAiu: z.number() }),
    declaredLimits: declared(),
    approved: z.nullable(declared()),
    observedAt: z.number(),
    activeSegmentStartedAt: z.nullable(z.number()),
    terminal: z.nullable(
      openObject({
        error: z.optional(z.string()),
        resultPreview: z.optional(z.string()),
        pauseInfo: z.nullable(pauseInfo()),
      }),
    ),
    canResume: z.boolean(),
  };
}
