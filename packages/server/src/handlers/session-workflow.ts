import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';
import {
  addLines,
  agentWish,
  factoryLimits,
  keepStep,
  progressPage,
  type Run,
  readStep,
  withPhases,
  workflowCall,
} from '../factory-calls.js';
import { Refusal } from '../failure.js';
import type { SessionHandlers } from '../handler.js';

type Names = Extract<keyof Methods, `session.workflow.${string}`>;

export const sessionWorkflowHandlers: SessionHandlers<Pick<Methods, Names>> = {
  async 'session.workflow.run'({ name, args, options }, context) {
    return workflowCall(context, async (factories) => {
      requireNoExtras(options);
      return shown(await factories.run(name, args, factoryLimits(options?.limits)));
    });
  },
  async 'session.workflow.resume'({ runId, limits, ...options }, context) {
    return workflowCall(context, async (factories) => {
      requireNoExtras(options);
      const run = await factories.resume(runId, factoryLimits(limits));
      return { workflowName: run.factoryName, run: shown(run) };
    });
  },
  async 'session.workflow.getRun'({ runId }, context) {
    return workflowCall(context, async (factories) => shown(await found(factories, runId)));
  },
  async 'session.workflow.getRunDetail'({ runId }, context) {
    return workflowCall(context, async (factories) => {
      const run = await found(factories, runId);
      const agents = await agentsOf(run, context.session);
      return {
        ...summary(run, factories),
        phases: phasesOf(run, agents),
        agents,
        progress: progressPage(run, { afterSeq: 0, beforeSeq: Infinity, limit: 100 }),
      };
    });
  },
  async 'session.workflow.getRunProgress'({ runId, phaseId, ...page }, context) {
    const { afterSeq = 0, beforeSeq = Infinity, limit = 100 } = page;
    return workflowCall(context, async (factories) =>
      progressPage(await found(factories, runId), { phaseId, afterSeq, beforeSeq, limit }),
    );
  },
  async 'session.workflow.listRuns'({ afterSeq = 0, beforeSeq = Infinity, limit = 100 }, context) {
    return workflowCall(context, async (factories) => {
      const all = (await factories.list()).map((run, index) => ({ run, seq: index + 1 }));
      const inRange = all.filter(({ seq }) => seq > afterSeq && seq < beforeSeq);
      const page = afterSeq > 0 ? inRange.slice(0, limit) : inRange.slice(-limit);
      const [oldestSeq, newestSeq] = [page[0]?.seq ?? null, page.at(-1)?.seq ?? null];
      return {
        runs: page.map(({ run }) => summary(run, factories)),
        oldestSeq,
        newestSeq,
        hasMoreNewer: newestSeq !== null && newestSeq < all.length,
        omittedOlder: oldestSeq === null ? 0 : oldestSeq - 1,
      };
    });
  },
  async 'session.workflow.cancel'({ runId }, context) {
    return workflowCall(context, async (factories) => shown(await factories.cancel(runId)));
  },
  async 'session.workflow.pause'({ runId }, context) {
    return workflowCall(context, async (factories) => shown(await factories.pause(runId)));
  },
  async 'session.workflow.pauseAtCheckpoint'({ runId, executionToken, key }, context) {
    return workflowCall(context, async (factories) => ({
      action: await factories.checkpoint(runId, executionToken, key),
    }));
  },
  async 'session.workflow.log'(params, context) {
    return workflowCall(context, (factories) => addLines(factories, params));
  },
  async 'session.workflow.journal.get'(params, context) {
    return workflowCall(context, (factories) => readStep(factories, params));
  },
  async 'session.workflow.journal.put'(params, context) {
    return workflowCall(context, (factories) => keepStep(factories, params));
  },
  async 'session.workflow.agent'({ workflowRunId: runId, executionToken, prompt, opts }, context) {
    return workflowCall(context, async (factories) => ({
      result: await factories.agent(runId, executionToken, agentWish(prompt, opts, 'workflows')),
    }));
  },
};

async function found(factories: Session['factories'], runId: string): Promise<Run> {
  const run = await factories.find(runId);
  if (!run) throw new Refusal(`Workflow run ${runId} was not found`);
  return run;
}

/** What has no effect is refused; what clients send by default is not. */
function requireNoExtras(options: Readonly<Record<string, unknown>> = {}): void {
  const { resumeFromRunId, notifyOnComplete, logPhaseNames } = options;
  if (resumeFromRunId !== undefined)
    throw new Refusal(
      "'resumeFromRunId' has no effect in this version: 'session.workflow.resume' goes on with a run.",
    );
  if (notifyOnComplete === true)
    throw new Refusal("'notifyOnComplete' has no effect in this version: watch 'workflow.run_updated'.");
  if (logPhaseNames === true)
    throw new Refusal(
      "'logPhaseNames' has no effect in this version: 'session.workflow.getRunDetail' has the phases.",
    );
}

function shown(run: Run): Result<Methods['session.workflow.getRun']> {
  const { runId, attempt, status, result, error, pause } = run;
  return {
    runId,
    attempt,
    status,
    ...(result !== undefined && { result }),
    ...(error !== undefined && { error }),
    ...(pause && { pauseInfo: pause }),
  };
}

function summary(run: Run, factories: Session['factories']) {
  const { runId, factoryName, description, status, revision, createdAt, startedAt, updatedAt } = run;
  const isRunning = status === 'running';
  const now = Date.now();
  const current = withPhases(run.progress).at(-1)?.phaseId ?? null;
  const { phases = [] } = run;
  return {
    runId,
    workflowName: factoryName,
    description,
    status,
    revision,
    createdAt,
    startedAt,
    updatedAt,
    completedAt: run.completedAt ?? null,
    currentPhase: isRunning && current !== null ? { id: current, ordinal: ordinalOf(phases, current) } : null,
    declaredPhaseCount: phases.length,
    liveAgentCount: factories.liveAgents(runId),
    totalSpawnedAgentCount: run.agents,
    consumed: { activeMs: factories.workedMs(run, now), subagents: run.agents, nanoAiu: 0 },
    declaredLimits: { ...run.limits },
    approved: null,
    observedAt: now,
    activeSegmentStartedAt: isRunning ? startedAt : null,
    terminal: isRunning ? null : terminalOf(run),
    canResume: status !== 'completed' && !isRunning,
  };
}

const longestPreview = 500;

function terminalOf({ error, result, pause }: Run) {
  const preview = result === undefined ? undefined : JSON.stringify(result)?.slice(0, longestPreview);
  return {
    ...(error !== undefined && { error }),
    ...(preview !== undefined && { resultPreview: preview }),
    pauseInfo: pause ?? null,
  };
}

function ordinalOf(phases: NonNullable<Run['phases']>, title: string): number | null {
  const index = phases.findIndex((phase) => phase.title === title);
  return index < 0 ? null : index;
}

async function agentsOf(run: Run, session: Session) {
  const tasks = new Map((await session.agents.tasks()).map((task) => [task.id, task]));
  return (run.spawned ?? []).flatMap(({ agentId, label, phase, model }) => {
    const task = tasks.get(agentId);
    if (!task) return [];
    const { toolCallId, displayName, agentType, status, activeTimeMs } = task;
    return {
      agentId,
      toolCallId,
      runId: run.runId,
      phaseId: phase ?? null,
      label,
      displayName,
      agentType,
      status,
      ...(model !== undefined && { requestedModel: model }),
      ...(task.model !== undefined && { resolvedModel: task.model }),
      startedAt: Date.parse(task.startedAt),
      ...(task.completedAt !== undefined && { completedAt: Date.parse(task.completedAt) }),
      activeMs: activeTimeMs,
    };
  });
}

type Agents = Awaited<ReturnType<typeof agentsOf>>;

/** Those that were announced, in their order, and then those that were entered besides. */
function phasesOf(run: Run, agents: Agents) {
  const { phases = [], progress, status } = run;
  const entries = progress.filter(({ kind }) => kind === 'phase');
  const end = run.completedAt ?? Date.now();
  const titles = [...new Set([...phases.map(({ title }) => title), ...entries.map(({ text }) => text)])];
  const last = entries.at(-1);
  return titles.map((title) => {
    const own = entries.filter(({ text }) => text === title);
    const spans = own.map(
      (entry) => (entries[entries.indexOf(entry) + 1]?.recordedAt ?? end) - entry.recordedAt,
    );
    const isActive = status === 'running' && last?.text === title;
    const detail = phases.find((phase) => phase.title === title)?.detail;
    const current = isActive ? (spans.at(-1) ?? 0) : 0;
    const working = agents.filter(({ phaseId }) => phaseId === title);
    const [first] = own;
    return {
      id: title,
      ordinal: ordinalOf(phases, title),
      title,
      ...(detail !== undefined && { detail }),
      status: phaseStatus({ isEntered: own.length > 0, isActive, isRunning: status === 'running' }),
      lastEnteredRunAttempt: own.at(-1)?.attempt ?? 0,
      entryCount: own.length,
      ...(first && { startedAt: first.recordedAt }),
      ...(own.length > 0 &&
        !isActive && { completedAt: (own.at(-1)?.recordedAt ?? 0) + (spans.at(-1) ?? 0) }),
      accumulatedActiveMs: spans.reduce((sum, span) => sum + span, 0) - current,
      currentActiveMs: current,
      totalAgentCount: working.length,
      liveAgentCount: working.filter((agent) => agent.status === 'running').length,
    };
  });
}

function phaseStatus(phase: {
  readonly isEntered: boolean;
  readonly isActive: boolean;
  readonly isRunning: boolean;
}): 'pending' | 'active' | 'completed' | 'skipped' {
  if (phase.isActive) return 'active';
  if (phase.isEntered) return 'completed';
  return phase.isRunning ? 'pending' : 'skipped';
}
