import type { SessionEvent } from '@groundcrew/protocol';
import { foldAgentEvent } from './fold-agent.js';
import type { AgentState } from './state.js';

/** The id under which calls of apps stand in the log; ids of agents are never like it. */
export const appAgentId = 'app';

/** What an event of calls of apps changes. No model reads of them: a call that is over leaves nothing. */
export function foldAppEvent(agent: AgentState, event: SessionEvent): AgentState {
  switch (event.type) {
    case 'tool.execution_complete': {
      const { toolCallId } = event.data;
      const isOther = (each: { readonly toolCallId: string }) => each.toolCallId !== toolCallId;
      const { calls, questions } = agent;
      return {
        ...agent,
        calls: calls.filter(isOther),
        questions: questions.filter(isOther),
        contexts: [],
        verbatim: {},
      };
    }
    case 'system.notification':
    case 'skill.invoked':
      return agent;
    default:
      return foldAgentEvent(agent, event);
  }
}
