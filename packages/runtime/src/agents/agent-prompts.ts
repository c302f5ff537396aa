import type { AgentDefinition } from '../log/agent-task.js';

/** Prompts that clients set in the place of an agent's own; they live as long as the process. */
export class AgentPrompts {
  private readonly prompts = new Map<string, string>();

  /** Throws what is wrong. */
  set(agents: readonly AgentDefinition[], name: string, prompt: string): void {
    const agent = agents.find((each) => each.name === name);
    if (!agent) throw new Error(`Agent '${name}' is not available in this session.`);
    if (agent.source === 'builtin' && name === 'general-purpose')
      throw new Error(`Built-in agent '${name}' does not have an authored prompt to override.`);
    this.prompts.set(name, prompt);
  }

  /** These agents, with what was set for them. */
  over(agents: readonly AgentDefinition[]): readonly AgentDefinition[] {
    if (this.prompts.size === 0) return agents;
    return agents.map((agent) => {
      const prompt = this.prompts.get(agent.name);
      return prompt === undefined ? agent : { ...agent, prompt };
    });
  }
}
