import { AgentFiles, type AgentRoot, agentRoots } from './agent-files.js';
import { builtinAgents } from './definition.js';
import { shownAgent } from './session-agents.js';

/** Where a caller without a session looks for agents. */
export interface AgentSearch {
  readonly projects: readonly string[];
  readonly includesHome: boolean;
}

/** What may be asked of agents without a session. */
export class HostAgents {
  constructor(private readonly home: string) {}

  /** The directories in the order of precedence. */
  roots({ projects, includesHome }: AgentSearch): readonly AgentRoot[] {
    return agentRoots(projects, includesHome ? [this.home] : []);
  }

  /** What files describe now, and what is wrong with them. */
  async discover(
    search: AgentSearch,
    options: { readonly includesPrompt?: boolean; readonly includesBuiltin?: boolean } = {},
  ) {
    const { agents, problems } = await new AgentFiles().read(this.roots(search));
    const all = options.includesBuiltin ? [...agents, ...builtinAgents] : agents;
    return { agents: all.map((agent) => shownAgent(agent, options)), problems };
  }
}
