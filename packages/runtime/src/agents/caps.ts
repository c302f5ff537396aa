import { type Totals, totalsOf } from '../budget/spending.js';
import type { AgentCaps, AgentTask } from '../log/agent-task.js';
import { agentOf, type SessionState } from '../log/state.js';
import type { Cap } from '../model-call/question.js';

/** What an agent may still take: its own caps, and those of the tree that it belongs to. Pure. */
export function capsFor(
  task: AgentTask,
  state: SessionState,
  { own, tree }: { readonly own: AgentCaps | undefined; readonly tree: AgentCaps | undefined },
): readonly Cap[] {
  return [
    ...(own ? [{ limits: limitsOf(own), totals: spentBy([task.agentId], state), owner: 'The agent' }] : []),
    ...(tree
      ? [{ limits: limitsOf(tree), totals: spentBy(treeOf(task, state), state), owner: 'The tree of agents' }]
      : []),
  ];
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
  const rootOf = (each: AgentTask): string => {
    const parent = each.parentAgentId === undefined ? undefined : tasks[each.parentAgentId];
    return parent ? rootOf(parent) : each.agentId;
  };
  const root = rootOf(task);
  return Object.values(tasks).flatMap((each) => (rootOf(each) === root ? [each.agentId] : []));
}

function limitsOf({ maxTokens, maxCalls, maxCost }: AgentCaps) {
  return {
    ...(maxTokens !== undefined && { maxTokens }),
    ...(maxCalls !== undefined && { maxCalls }),
    ...(maxCost !== undefined && { maxCost }),
  };
}
