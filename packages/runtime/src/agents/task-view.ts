import { type AgentTask, activeMilliseconds } from '../log/agent-task.js';
import { agentOf, type SessionState } from '../log/state.js';
import { spentBy } from './caps.js';
import { lastText } from './sub-agent-end.js';

/** A sub-agent as clients see it. */
export function shownTask(task: AgentTask, state: SessionState) {
  const agent = agentOf(state, task.agentId);
  const { agentId, toolCallId, description, status, startedAt, completedAt, error, prompt, result, mode } =
    task;
  const [model] = Object.keys(agent.spending.byModel);
  const latest = lastText(agent);
  return {
    type: 'agent',
    id: agentId,
    toolCallId,
    displayName: task.name,
    description,
    status,
    startedAt,
    agentType: task.agent.name,
    prompt,
    executionMode: mode,
    canPromoteToBackground: mode === 'sync' && status === 'running',
    depth: task.depth,
    totalTokens: spentBy([agentId], state).tokens,
    ...(completedAt !== undefined && {
      completedAt,
    }),
    activeTimeMs: activeMilliseconds(task, Date.now()),
    turns: task.turns ?? 0,
    ...(task.parentAgentId !== undefined && { parentAgentId: task.parentAgentId }),
    ...(error !== undefined && { error }),
    ...(result !== undefined && { result }),
    ...(model !== undefined && { model }),
    ...(latest !== '' && { latestResponse: latest }),
  };
}

/** What an agent did last: its newest words and calls. */
export function taskProgress(task: AgentTask, state: SessionState) {
  const { history } = agentOf(state, task.agentId);
  const messages = history.slice(-10).flatMap((entry) => {
    if (entry.role !== 'assistant') return [];
    return [
      ...(entry.text === '' ? [] : [entry.text.slice(0, 200)]),
      ...entry.toolCalls.map(({ name }) => name),
    ];
  });
  return {
    type: 'agent',
    recentActivity: messages.map((message) => ({ message, timestamp: state.modifiedAt })),
  };
}
