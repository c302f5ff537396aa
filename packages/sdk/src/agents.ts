import type { Methods, Result } from '@groundcrew/protocol';
import { GroundcrewError } from './errors.js';
import type { CustomAgentConfig } from './session-options.js';
import type { Warnings } from './warnings.js';
import type { Call } from './wire.js';

/** An agent that can lead a session, or work for another one. */
export type AgentInfo = Result<Methods['session.agent.list']>['agents'][number];

/**
 * Describes an agent for `customAgents`. Throws for a name that cannot be called, and for an agent without a prompt.
 *
 * @example
 * const reviewer = defineAgent('reviewer', {
 *   description: 'Reviews changes; changes nothing',
 *   prompt: 'You review changes. Report what would do harm.',
 *   tools: ['view', 'grep', 'glob'],
 *   limits: { maxCalls: 20 },
 * });
 */
export function defineAgent(name: string, agent: Omit<CustomAgentConfig, 'name'>): CustomAgentConfig {
  if (!/^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,63}$/u.test(name))
    throw new GroundcrewError(
      'invalid_option',
      `An agent cannot be named ${JSON.stringify(name)}: up to 64 letters, digits, blanks, - _ or .`,
    );
  if (agent.prompt.trim() === '')
    throw new GroundcrewError('invalid_option', `The agent ${name} has no prompt`);
  return { name, ...agent };
}

/** The agents of a session: those of the app, of files, and of the runtime. */
export class SessionAgents {
  constructor(
    private readonly sessionId: string,
    private readonly call: Call,
    private readonly warnings: Warnings,
  ) {}

  /** Those of the app and of files, in the order of precedence; with `includeBuiltIn` all. */
  async list(options: { readonly includeBuiltIn?: boolean } = {}): Promise<readonly AgentInfo[]> {
    this.warnings.ofNames('agents', options);
    const { sessionId } = this;
    const { includeBuiltIn = false } = options;
    const params = { sessionId, includeBuiltInAgents: includeBuiltIn };
    return (await this.call('session.agent.list', params)).agents;
  }

  /** The agent that leads from the next prompt on; undefined for the default one. */
  async current(): Promise<AgentInfo | undefined> {
    const { sessionId } = this;
    return (await this.call('session.agent.getCurrent', { sessionId })).agent ?? undefined;
  }

  /** Has an agent lead from the next prompt on. */
  async select(name: string): Promise<AgentInfo> {
    const { sessionId } = this;
    return (await this.call('session.agent.select', { sessionId, name })).agent;
  }

  /** Has the default agent lead again. */
  async deselect(): Promise<void> {
    const { sessionId } = this;
    await this.call('session.agent.deselect', { sessionId });
  }

  /** Reads the files of agents again now; they are read again anyway when they have changed. */
  async reload(): Promise<readonly AgentInfo[]> {
    const { sessionId } = this;
    return (await this.call('session.agent.reload', { sessionId })).agents;
  }
}
