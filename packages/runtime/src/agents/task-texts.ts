import { type AgentTask, activeMilliseconds } from '../log/agent-task.js';
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

/** What read_agent returns: each answer under the number of its turn. */
export function reportOf(
  task: AgentTask,
  { now, since }: { readonly now: number; readonly since: number },
): string {
  const { agentId, agent, status, description, turns = 0, result = '', error } = task;
  const elapsed = seconds(task, now);
  const facts = `agent_id: ${agentId}, agent_type: ${agent.name}, status: ${status}, description: ${description}, elapsed: ${elapsed}s, total_turns: ${turns}`;
  const words = {
    running: 'is still running',
    completed: 'completed',
    failed: 'failed',
    cancelled: 'was stopped',
  };
  const replies = repliesOf(task, since);
  const isSaid = result === '' || task.replies?.at(-1) === result;
  const parts = [
    `Agent ${words[status]}. ${facts}`,
    ...(error === undefined ? [] : [error]),
    ...replies,
    ...(isSaid || status === 'running' ? [] : [result]),
  ];
  return parts.join('\n\n');
}

/** The newest of its answers from a turn on; of the others it is said that there were some. */
function repliesOf({ turns = 0, replies = [] }: AgentTask, since: number): readonly string[] {
  const first = turns - replies.length;
  const shown = replies.flatMap((text, index) =>
    first + index < since ? [] : [`[Turn ${first + index}]\n${text}`],
  );
  return since < first ? [`(Turns ${since} to ${first - 1} are not kept.)`, ...shown] : shown;
}

/** What list_agents returns. */
export function listOf(tasks: readonly AgentTask[], now: number): string {
  if (tasks.length === 0) return '<no background agents>';
  const rows = tasks.map(
    (task) =>
      `  ${task.name} (${task.agentId}): ${task.agent.name} - "${task.description}" (${task.status}, ${seconds(task, now)}s)`,
  );
  return `Background agents:\n\n${rows.join('\n')}`;
}

function seconds(task: AgentTask, now: number): number {
  return Math.round(activeMilliseconds(task, now) / 1000);
}
