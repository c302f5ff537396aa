import type { JsonObject } from '@groundcrew/protocol';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';

/** Makes the MCP servers that an agent's definition lists. */
export type MakeServers = (servers: Readonly<Record<string, JsonObject>>) => ServerSource;

interface ServerSource extends ToolSource {
  directoriesChanged(): void;
}

interface Held {
  readonly source: ServerSource;
  holders: number;
}

/** The MCP servers that agents have of their own: started when an agent needs them, ended when none does any more. */
export class AgentServers {
  private readonly held = new Map<string, Held>();

  constructor(
    private readonly make: MakeServers,
    /** What clients that are attached say of the servers of an agent; undefined when it has none. */
    private readonly describe: (agentName: string) => Readonly<Record<string, JsonObject>> | undefined,
  ) {}

  /** The servers of an agent, held until `release` is called. */
  take(agentName: string): { readonly source: ToolSource; release(): Promise<void> } | undefined {
    const servers = this.describe(agentName);
    if (!servers || Object.keys(servers).length === 0) return undefined;
    const key = `${agentName} ${JSON.stringify(servers)}`;
    const held = this.held.get(key) ?? { source: this.make(servers), holders: 0 };
    held.holders += 1;
    this.held.set(key, held);
    let isReleased = false;
    return {
      source: held.source,
      release: async () => {
        if (isReleased) return;
        isReleased = true;
        held.holders -= 1;
        if (held.holders > 0) return;
        this.held.delete(key);
        await held.source.close();
      },
    };
  }

  /** The tools of all of them. */
  tools(): readonly Tool[] {
    return [...this.held.values()].flatMap(({ source }) => source.tools());
  }

  /** The session may work in other directories now. */
  directoriesChanged(): void {
    for (const { source } of this.held.values()) source.directoriesChanged();
  }

  /** Ends all of them; who holds some still gives back nothing. */
  async close(): Promise<void> {
    const all = [...this.held.values()];
    this.held.clear();
    await Promise.all(all.map(({ source }) => source.close()));
  }
}
