import type { AgentDefinition } from '../log/agent-task.js';
import type { SessionState } from '../log/state.js';
import type { ToolSource } from '../tools/tool-source.js';

/** What agents change of a session's plans. */
export interface AgentChoices {
  /** The agent that leads the session; undefined for the default one. */
  leader?(state: SessionState): LeadingAgent | undefined;
}

/** An agent, and the texts of its skills. */
export interface LeadingAgent {
  readonly agent: AgentDefinition;
  readonly skills: readonly string[];
  /** The servers of its own; absent when it has none. */
  readonly servers?: ToolSource | undefined;
}

/** A sub-agent, as far as its plans go by it. */
export interface PlannedAgent extends LeadingAgent {
  readonly model?: string;
  readonly reasoningEffort?: string;
  /** Tools that it may not have, such as those that begin agents. */
  readonly withheld: readonly string[];
}
