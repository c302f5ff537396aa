import type { AgentDefinition } from '../log/agent-task.js';
import type { SessionSettings } from '../settings/session-settings.js';
import type { ToolSource } from '../tools/tool-source.js';
import { makeToolset, type Toolset } from '../tools/toolset.js';
import type { LeadingAgent } from './planned-agent.js';

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

/** The tools of the agent that leads; the same object as long as nothing changes. */
export class LedToolset {
  private made:
    | {
        readonly of: Toolset;
        readonly agent: AgentDefinition;
        readonly servers: string;
        readonly toolset: Toolset;
      }
    | undefined;

  of(
    { agent, servers }: LeadingAgent,
    whole: Toolset,
    { sources, settings }: { readonly sources: readonly ToolSource[]; readonly settings: SessionSettings },
  ): Toolset {
    const names = servers ? JSON.stringify(servers.tools().map(({ name }) => name)) : '';
    const { made } = this;
    if (made?.of === whole && made.agent === agent && made.servers === names) return made.toolset;
    const isWhole = !agent.tools && !servers;
    const tools = agent.tools && [...agent.tools, ...always];
    const toolset = isWhole ? whole : agentToolset(sources, settings, { tools, servers });
    this.made = { of: whole, agent, servers: names, toolset };
    return toolset;
  }
}
