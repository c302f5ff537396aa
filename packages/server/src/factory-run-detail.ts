import type { Session } from '@groundcrew/runtime';
import { progressPage, type Run, withPhases } from './factory-calls.js';

/** A run with its phases, its sub-agents and the newest lines of its progress. */
export async function runDetail(run: Run, session: Session) {
  const agents = await agentsOf(run, session);
  return {
    ...runSummary(run, session.factories),
    phases: phasesOf(run, agents),
    agents,
    progress: progressPage(run, { afterSeq: 0, beforeSeq: Infinity, limit: 100 }),
  };
}

/** A run in numbers: what it took, where it stands, how it ended. */
export function runSummary(run: Run, factories: Session['factories']) {
  const { runId, description, status, revision, createdAt, startedAt, updatedAt } = run;
  const isRunning = status === 'running';
  const now = Date.now();
  const current = withPhases(run.progress).at(-1)?.phaseId ?? null;
  const { phases = [] } = run;
  return {
    runId,
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
