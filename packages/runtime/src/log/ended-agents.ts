import type { AgentTask } from './agent-task.js';
import { agentOf, initialAgent, type SessionState } from './state.js';

/** Of so many agents that have ended the conversation is kept, in so many characters, so that they can be written to again. */
const mostConversations = 24;
const mostCharacters = 2_000_000;
/** So many agents that have ended are known at all. */
const mostTasks = 200;

/**
 * A state without what agents left that ended long ago: a session does not grow with the number of agents that ever worked in
 * it. The log has all of it. A tree of which some agent still works stays whole, for its limits count all of it. Pure.
 */
export function withoutOldAgents(state: SessionState): SessionState {
  const ended = endedTasks(state);
  const known = ended.filter((task, index) => index < mostTasks || !isReported(task, state));
  let characters = 0;
  const closed = known.filter((task, index) => {
    characters += agentOf(state, task.agentId).historySize;
    const isKept = index < mostConversations && characters <= mostCharacters;
    return !isKept && !task.isForgotten;
  });
  if (known.length === ended.length && closed.length === 0) return state;
  const isKnown = new Set(known);
  const gone = new Set(ended.filter((task) => !isKnown.has(task)).map(({ agentId }) => agentId));
  const isLeft = ([agentId]: readonly [string, unknown]) => !gone.has(agentId);
  const tasks = Object.fromEntries(Object.entries(state.tasks).filter(isLeft));
  const agents = Object.fromEntries(Object.entries(state.agents).filter(isLeft));
  for (const { agentId, replies = [], ...task } of closed) {
    const { spending } = agentOf(state, agentId);
    tasks[agentId] = { ...task, agentId, replies: replies.slice(-1), isForgotten: true };
    agents[agentId] = { ...initialAgent, spending };
  }
  return { ...state, tasks, agents };
}

/** Characters of the conversations of all agents. */
export function sizeOfAgents({ agents }: SessionState): number {
  return Object.values(agents).reduce((sum, { historySize }) => sum + historySize, 0);
}

/** Those that ended last come first, whenever they began; without those of trees that still work. */
function endedTasks({ tasks }: SessionState): AgentTask[] {
  const all = Object.values(tasks);
  const topOf = (task: AgentTask): string => {
    const parent = task.parentAgentId === undefined ? undefined : tasks[task.parentAgentId];
    return parent ? topOf(parent) : task.agentId;
  };
  const atWork = new Set(all.filter(({ status }) => status === 'running').map(topOf));
  const ended = all.filter((task) => !atWork.has(topOf(task))).reverse();
  return ended.sort((a, b) => compare(b.completedAt ?? '', a.completedAt ?? ''));
}

/** Times as the log has them, which sort as texts. */
function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Who began it has its result. */
function isReported(
  { toolCallId, parentAgentId, mode, isNotified }: AgentTask,
  state: SessionState,
): boolean {
  const isAwaited = agentOf(state, parentAgentId).calls.some((call) => call.toolCallId === toolCallId);
  return !isAwaited && (mode === 'sync' || isNotified === true);
}
