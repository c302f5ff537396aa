import { findGit } from '../workspace/git.js';
import { builtinAgents, firstOfEach } from './agent-definitions.js';
import { AgentFiles, type AgentRoot, agentRoots } from './agent-files.js';
import { shownAgent } from './shown-agent.js';

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

  /** What a session that works in a directory would have. */
  here(directory: string) {
    const root = findGit(directory)?.root;
    const projects = [directory, ...(root === undefined || root === directory ? [] : [root])];
    return this.discover({ projects, includesHome: true }, { includesPrompt: true, includesBuiltin: true });
  }

  /** What files describe now, and what is wrong with them. */
  async discover(
    search: AgentSearch,
    options: { readonly includesPrompt?: boolean; readonly includesBuiltin?: boolean } = {},
  ) {
    const { agents, problems } = await new AgentFiles().read(this.roots(search));
    const all = options.includesBuiltin ? firstOfEach(agents, builtinAgents) : agents;
    return { agents: all.map((agent) => shownAgent(agent, options)), problems };
  }
}
