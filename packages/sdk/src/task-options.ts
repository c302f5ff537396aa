/** What begins a sub-agent in the background. */
export interface NewAgentTask {
  /** The name of an agent, such as `explore`, or one of `customAgents`. */
  readonly agentType: string;
  readonly prompt: string;
  /** A short name for users. */
  readonly name: string;
  readonly description?: string;
  readonly model?: string;
}
