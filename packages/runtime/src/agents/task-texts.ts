import type { AgentTask } from '../log/agent-task.js';
import type { Draft } from '../log/session-log.js';

/** What the model reads when an agent of its own has ended. */
export function noticeOf(task: AgentTask): Draft {
  const { agentId, name, description, status, agent } = task;
  const what =
    status === 'completed'
      ? `has completed successfully. Use read_agent with agent_id "${agentId}" to retrieve the full results.`
      : `has ${status === 'failed' ? 'failed' : 'been stopped'}. Use read_agent with agent_id "${agentId}" to see why.`;
  return {
    type: 'system.notification',
    data: {
      content: `<system_notification>\nAgent "${name}" (${agent.name}) ${what}\n</system_notification>`,
      kind: {
        type: 'agent_completed',
        agentId,
        agentType: agent.name,
        displayName: agent.displayName,
        description,
        status: status === 'completed' ? 'completed' : 'failed',
      },
    },
  };
}

/** What the model reads of an agent that works beside it. */
export function startedText({ agentId }: AgentTask): string {
  return `Agent started in background with agent_id: ${agentId}. You'll be notified when it completes. Tell the user you're waiting and end your response, or continue unrelated work until notified. The agent supports multi-turn conversations — use write_agent to send follow-up messages.`;
}

/** What read_agent tells. */
export function reportOf(task: AgentTask, now: number): string {
  const { agentId, agent, status, description, startedAt, completedAt, result = '', error } = task;
  const elapsed = seconds(startedAt, now);
  const facts = `agent_id: ${agentId}, agent_type: ${agent.name}, status: ${status}, description: ${description}, elapsed: ${elapsed}s, total_turns: 0`;
  if (status === 'running') return `Agent is still running. ${facts}`;
  const duration = completedAt === undefined ? elapsed : seconds(startedAt, Date.parse(completedAt));
  const words = { completed: 'completed', failed: 'failed', cancelled: 'was stopped' };
  const text = error === undefined ? result : `${error}${result === '' ? '' : `\n\n${result}`}`;
  return `Agent ${words[status]}. ${facts}, duration: ${duration}s\n\n${text}`;
}

/** What list_agents tells. */
export function listOf(tasks: readonly AgentTask[], now: number): string {
  if (tasks.length === 0) return '<no background agents>';
  const rows = tasks.map(
    ({ name, agentId, agent, description, status, startedAt }) =>
      `  ${name} (${agentId}): ${agent.name} - "${description}" (${status}, ${seconds(startedAt, now)}s)`,
  );
  return `Background agents:\n\n${rows.join('\n')}`;
}

function seconds(from: string, to: number): number {
  return Math.max(0, Math.round((to - Date.parse(from)) / 1000));
}
