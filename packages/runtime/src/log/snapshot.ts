import { type AgentState, initialAgent, initialState, rootAgentId, type SessionState } from './state.js';

/** A snapshot as earlier versions wrote it: the root agent's fields stood among the session's. */
export type EarlierSnapshot = Omit<Partial<SessionState>, 'agents'> & Partial<AgentState>;

/** The state that a snapshot holds, whichever version wrote it; what was added since has its initial value. */
export function stateOfSnapshot(stored: SessionState | EarlierSnapshot): SessionState {
  if ('agents' in stored) return { ...initialState, ...stored, agents: completed(stored.agents) };
  const { history, historySize, systemPrompt, turn, calls, questions, verbatim, view, ...session } = stored;
  const root: AgentState = {
    history: history ?? initialAgent.history,
    historySize: historySize ?? initialAgent.historySize,
    systemPrompt: systemPrompt ?? initialAgent.systemPrompt,
    calls: calls ?? initialAgent.calls,
    questions: questions ?? initialAgent.questions,
    verbatim: verbatim ?? initialAgent.verbatim,
    contexts: initialAgent.contexts,
    spending: session.spending ?? initialAgent.spending,
    ...(turn && { turn }),
    ...(view && { view }),
  };
  return { ...initialState, ...session, agents: { [rootAgentId]: root } };
}

/** What was added to agents since a snapshot was written has its initial value. */
function completed(agents: SessionState['agents']): SessionState['agents'] {
  const entries = Object.entries(agents).map(([id, agent]) => [id, { ...initialAgent, ...agent }] as const);
  return Object.fromEntries(entries);
}
