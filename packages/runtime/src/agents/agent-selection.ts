import type { AgentDefinition } from '../log/agent-task.js';
import type { Draft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import type { LeadingAgent } from '../turn/planned-agent.js';
import type { AgentServers } from './agent-servers.js';
import { shownAgent } from './shown-agent.js';

/** The session whose agents can lead. */
interface SelectingSession {
  readonly skills: { contextsOf(names: readonly string[]): Promise<readonly string[]> };
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
}

/** Where agents are chosen from. */
interface AgentChoice {
  readonly all: readonly AgentDefinition[];
  readonly servers: Pick<AgentServers, 'take'>;
  /** Throws UnknownAgent. */
  require(name: string): AgentDefinition;
  refresh(): Promise<void>;
  /** Clients learn what of its description has no effect. */
  warnOf(agent: AgentDefinition): void;
}

/** What is known of the agent that was selected. */
interface Selected {
  readonly name: string;
  readonly skills: readonly string[];
  readonly servers?: ReturnType<AgentServers['take']>;
}

const none: Selected = { name: '', skills: [] };

/** Which agent of a session leads, and the skills and servers that it brings. */
export class AgentSelection {
  private selected = none;

  constructor(
    private readonly session: SelectingSession,
    private readonly agents: AgentChoice,
  ) {}

  /** The agent that is to lead from the next prompt on. */
  async current() {
    await this.agents.refresh();
    const agent = this.find((await this.session.state()).selectedAgent);
    return agent && shownAgent(agent);
  }

  /** Throws UnknownAgent. */
  async select(name: string) {
    await this.agents.refresh();
    const agent = this.agents.require(name);
    const { displayName, tools } = agent;
    const data = { agentName: agent.name, agentDisplayName: displayName, tools: tools ? [...tools] : null };
    await this.session.record({ type: 'subagent.selected', data });
    return shownAgent(agent);
  }

  async deselect(): Promise<void> {
    if ((await this.session.state()).selectedAgent === undefined) return;
    await this.session.record({ type: 'subagent.deselected', data: {} });
  }

  /** Who leads by this state; undefined for the default agent, and for one that is gone. */
  leader({ leadingAgent }: SessionState): LeadingAgent | undefined {
    const agent = this.find(leadingAgent);
    if (!agent) return undefined;
    const { skills, servers } = this.selected.name === agent.name ? this.selected : none;
    return { agent, skills, servers: servers?.source };
  }

  /** Reads the skills of the selected agent, and starts its servers. */
  async prepare({ selectedAgent }: SessionState): Promise<void> {
    const agent = this.find(selectedAgent);
    const skills = agent?.skills ? await this.session.skills.contextsOf(agent.skills) : [];
    if (agent) this.agents.warnOf(agent);
    const before = this.selected.servers;
    const servers = agent && this.agents.servers.take(agent.name);
    this.selected = { name: agent?.name ?? '', skills, servers };
    // Those that are still wanted have two holders now, and stay.
    await before?.release();
  }

  /** The session leaves memory, and the servers with it. */
  clear(): void {
    this.selected = none;
  }

  private find(agentName: string | undefined): AgentDefinition | undefined {
    return agentName === undefined ? undefined : this.agents.all.find(({ name }) => name === agentName);
  }
}
