import type { AgentDefinition } from '../log/agent-task.js';
import type { SessionSettings } from '../settings/session-settings.js';
import type { ToolSource } from '../tools/tool-source.js';
import { makeToolset, type Toolset } from '../tools/toolset.js';
import type { LeadingAgent, PlannedAgent } from './planned-agent.js';

/** What a leading agent has besides the tools it names. */
const always = ['skill', 'sql'] as const;

/** What of a session's tools an agent has. */
interface AgentTools {
  /** Absent: all of them. */
  readonly tools?: readonly string[] | undefined;
  /** Tools that it may not have, whatever it names. */
  readonly withheld?: readonly string[];
  /** The servers of its own. */
  readonly servers?: ToolSource | undefined;
}

/** Its own tools, less what the app's filters take from everyone. */
export function agentToolset(
  sources: readonly ToolSource[],
  { excludedTools = [], availableTools }: SessionSettings,
  { tools, withheld = [], servers }: AgentTools,
): Toolset {
  return makeToolset(servers ? withServers(sources, servers) : sources, {
    exclusionWins: true,
    excludedTools: [...excludedTools, ...withheld],
    ...(availableTools && { availableTools }),
    ...(tools && { ofAgent: tools }),
  });
}

/** A server of an agent's own takes the place of the session's server of its name. */
function withServers(
  sources: readonly ToolSource[],
  servers: ToolSource,
): readonly Pick<ToolSource, 'tools'>[] {
  const own = new Set(servers.tools().map(({ mcp }) => mcp?.mcpServerName));
  const others = sources.map((source) => ({
    tools: () => source.tools().filter(({ mcp }) => !mcp || !own.has(mcp.mcpServerName)),
  }));
  return [...others, servers];
}

/** What the tools of a session are made of. */
interface ToolsetContext {
  readonly sources: readonly ToolSource[];
  readonly settings: SessionSettings;
  /** All tools that there are: another object whenever they have changed. */
  readonly whole: Toolset;
}

/** The tools of agents: for each the same object as long as nothing changes, for many agents ask before every call. */
export class AgentToolsets {
  private readonly made = new WeakMap<AgentDefinition, Made>();

  /** Of an agent that leads. */
  ofLeader({ agent, servers }: LeadingAgent, context: ToolsetContext): Toolset {
    if (!agent.tools && !servers) return context.whole;
    return this.of(agent, context, { tools: agent.tools && [...agent.tools, ...always], servers });
  }

  /** Of an agent that works for another one. */
  ofSubAgent({ agent, withheld, servers }: PlannedAgent, context: ToolsetContext): Toolset {
    return this.of(agent, context, { tools: agent.tools, withheld, servers });
  }

  private of(
    agent: AgentDefinition,
    { sources, settings, whole }: ToolsetContext,
    wanted: AgentTools,
  ): Toolset {
    const { tools, withheld, servers } = wanted;
    const key = JSON.stringify([tools, withheld, servers?.tools().map(({ name }) => name)]);
    const known = this.made.get(agent);
    if (known?.of === whole && known.key === key) return known.toolset;
    const toolset = agentToolset(sources, settings, wanted);
    this.made.set(agent, { of: whole, key, toolset });
    return toolset;
  }
}

interface Made {
  readonly of: Toolset;
  readonly key: string;
  readonly toolset: Toolset;
}
