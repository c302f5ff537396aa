import { type AgentState, initialAgent, initialState, rootAgentId, type SessionState } from './state.js';

/** A snapshot as earlier versions wrote it: the root agent's fields stood among the session's. */
export type EarlierSnapshot = Omit<Partial<SessionState>, 'agents'> & Partial<AgentState>;

/** The state that a snapshot holds, whichever version wrote it; what was added since has its initial value. */
export function stateOfSnapshot(stored: SessionState | EarlierSnapshot): SessionState {
  if ('agents' in stored) return { ...initialState, ...stored };
  const { history, historySize, systemPrompt, turn, calls, questions, verbatim, ...session } = stored;
  const root: AgentState = {
    history: history ?? initialAgent.history,
    historySize: historySize ?? initialAgent.historySize,
    systemPrompt: systemPrompt ?? initialAgent.systemPrompt,
    calls: calls ?? initialAgent.calls,
    questions: questions ?? initialAgent.questions,
    verbatim: verbatim ?? initialAgent.verbatim,
    spending: session.spending ?? initialAgent.spending,
    ...(turn && { turn }),
  };
  return { ...initialState, ...session, agents: { [rootAgentId]: root } };
}
