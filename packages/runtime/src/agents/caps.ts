import { type Totals, totalsOf, withReserved } from '../budget/spending.js';
import { type AgentCaps, type AgentTask, activeMilliseconds } from '../log/agent-task.js';
import { agentOf, type SessionState } from '../log/state.js';
import type { Cap } from '../model-call/call-request.js';
import { ownEntry } from '../own-entry.js';

/** What an agent may still take: its own caps, and those of the tree that it belongs to. Pure. */
export function capsFor(
  task: AgentTask,
  state: SessionState,
  { own, tree }: { readonly own: AgentCaps | undefined; readonly tree: AgentCaps | undefined },
): readonly Cap[] {
  return [
    ...(own ? [{ limits: limitsOf(own), totals: spentBy([task.agentId], state), owner: 'The agent' }] : []),
    ...(tree
      ? [{ limits: limitsOf(tree), totals: committedBy(task, state), owner: 'The tree of agents' }]
      : []),
  ];
}

/** How long an agent may still work, and which cap ends it then: its own one, or that of its tree. Pure. */
export function timeLeft(
  task: AgentTask,
  {
    own,
    tree,
    tasks,
    now,
  }: {
    readonly own: AgentCaps;
    readonly tree: AgentCaps | undefined;
    readonly tasks: SessionState['tasks'];
    readonly now: number;
  },
): { readonly milliseconds: number; readonly reason: string } {
  const left = (seconds: number | undefined, worker: AgentTask) =>
    seconds === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(0, seconds * 1000 - activeMilliseconds(worker, now));
  const ofOwn = left(own.maxSeconds, task);
  const ofTree = Math.min(left(tree?.maxSeconds, topOf(task, tasks)), left(tree?.maxSeconds, task));
  return ofOwn <= ofTree
    ? { milliseconds: ofOwn, reason: `The agent has worked for ${own.maxSeconds} seconds` }
    : { milliseconds: ofTree, reason: `The tree of agents has worked for ${tree?.maxSeconds} seconds` };
}

/** What the agents of a tree have spent, and what all but this one have set aside for calls that they wait for. */
function committedBy(task: AgentTask, state: SessionState): Totals {
  const agentIds = treeOf(task, state);
  return agentIds
    .filter((agentId) => agentId !== task.agentId)
    .reduce((sum, id) => withReserved(sum, agentOf(state, id).spending), spentBy(agentIds, state));
}

/** What some agents have spent together. */
export function spentBy(agentIds: readonly string[], state: SessionState): Totals {
  return agentIds
    .map((agentId) => totalsOf(agentOf(state, agentId).spending))
    .reduce(
      (sum, each) => ({
        calls: sum.calls + each.calls,
        tokens: sum.tokens + each.tokens,
        cost: sum.cost + each.cost,
      }),
      { calls: 0, tokens: 0, cost: 0 },
    );
}

/** All agents below one that the root began, itself included. */
function treeOf(task: AgentTask, { tasks }: SessionState): readonly string[] {
  const top = topOf(task, tasks);
  return Object.values(tasks).flatMap((each) => (topOf(each, tasks) === top ? [each.agentId] : []));
}

/** The agent of the root's that a tree begins with. */
function topOf(task: AgentTask, tasks: SessionState['tasks']): AgentTask {
  const parent = task.parentAgentId === undefined ? undefined : ownEntry(tasks, task.parentAgentId);
  return parent ? topOf(parent, tasks) : task;
}

function limitsOf({ maxTokens, maxCalls, maxCost }: AgentCaps) {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCalls !== undefined && { maxCalls }),
    ...(maxCost !== undefined && { maxCost }),
  };
}
