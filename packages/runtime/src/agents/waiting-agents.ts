import type { HookGuard } from '../hooks/guard.js';
import { type AgentState, agentOf, type OpenCall, rootAgentId, type SessionState } from '../log/state.js';
import type { Questions } from '../questions/questions.js';

/** What knows whether answers are waited for in this process. */
interface Waiting {
  readonly questions: Pick<Questions, 'isWaiting'>;
  readonly guard: Pick<HookGuard, 'isHolding'>;
}

/** Every agent at work does nothing but wait for answers of users, or for an agent of its own that does. */
export function agentsOnlyWait(state: SessionState, { questions, guard }: Waiting): boolean {
  const running = Object.values(state.tasks).filter(({ status }) => status === 'running');
  const isAsked = (agent: AgentState, { toolCallId }: OpenCall) =>
    agent.questions.some(
      (question) => question.toolCallId === toolCallId && questions.isWaiting(question.requestId),
    );
  const hasAgent = (agentId: string, { toolCallId }: OpenCall) =>
    running.some((task) => task.toolCallId === toolCallId && (task.parentAgentId ?? rootAgentId) === agentId);
  const onlyWaits = (agentId: string) => {
    const agent = agentOf(state, agentId);
    const waits = (call: OpenCall) =>
      isAsked(agent, call) || guard.isHolding(call.toolCallId) || hasAgent(agentId, call);
    return agent.calls.length > 0 && agent.calls.every(waits);
  };
  const { turn } = agentOf(state);
  const agentIds = [...(turn ? [rootAgentId] : []), ...running.map(({ agentId }) => agentId)];
  return agentIds.length > 0 && agentIds.every(onlyWaits);
}
