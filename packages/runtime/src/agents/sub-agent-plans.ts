import type { AgentDefinition, AgentTask } from '../log/agent-task.js';
import type { SessionState } from '../log/state.js';
import { ownEntry } from '../own-entry.js';
import type { AgentPlanner } from '../turn/agent-context.js';
import type { PlannedAgent } from '../turn/planned-agent.js';
import type { Planner } from '../turn/planner.js';
import type { AgentServers } from './agent-servers.js';
import type { SubAgentSettings } from './sub-agent-settings.js';

/** What the session gives its sub-agents to plan by. */
export interface SubAgentPlanParts {
  readonly planner: Planner;
  settings(): SubAgentSettings;
  /** The texts of skills that an agent has from the start. */
  skillsOf(agent: AgentDefinition): Promise<readonly string[]>;
  /** Its own MCP servers, held until they are released. */
  serversOf(agent: AgentDefinition): ReturnType<AgentServers['take']>;
}

/** The tools that begin and lead agents; those at the greatest depth have none of them. */
const agentToolNames = ['task', 'read_agent', 'write_agent', 'list_agents', 'stop_agent'] as const;

/** The plans of one sub-agent: its own prompt, tools and model, with the skills and servers that it has. */
export class SubAgentPlans {
  private skills: readonly string[] = [];
  private servers: ReturnType<AgentServers['take']>;

  constructor(
    private readonly agent: AgentDefinition,
    private readonly parts: SubAgentPlanParts & { task(): AgentTask; state(): SessionState },
  ) {}

  /** Takes its servers, until they are released. */
  takeServers(): void {
    this.servers = this.parts.serversOf(this.agent);
  }

  async releaseServers(): Promise<void> {
    await this.servers?.release();
  }

  /** Its skills are read before the first plan that goes to a model. */
  planner(): AgentPlanner {
    const { parts } = this;
    const plans = parts.planner.forSubAgent(
      () => this.planned(),
      () => parts.state(),
    );
    const read = async () => {
      this.skills = await parts.skillsOf(this.agent);
    };
    return {
      ...plans,
      ready: async (signal) => {
        await read();
        await plans.ready(signal);
      },
      freshPlan: async (signal) => {
        await read();
        return plans.freshPlan(signal);
      },
    };
  }

  private planned(): PlannedAgent {
    const { skills } = this;
    const { agents, maxDepth } = this.parts.settings();
    const task = this.parts.task();
    const wish = ownEntry(agents, task.agent.name);
    const model = task.model ?? wish?.model;
    const reasoningEffort = task.reasoningEffort ?? wish?.reasoningEffort;
    return {
      agent: task.agent,
      skills,
      servers: this.servers?.source,
      withheld: task.depth >= maxDepth ? agentToolNames : [],
      ...(model !== undefined && { model }),
      ...(reasoningEffort !== undefined && { reasoningEffort }),
    };
  }
}
