import type { JsonObject } from '@groundcrew/protocol';
import type { AgentDefinition } from '../log/agent-task.js';
import type { Draft, EphemeralDraft } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import type { SessionSettings } from '../settings/session-settings.js';
import type { Tool } from '../tools/tool.js';
import type { ToolSource } from '../tools/tool-source.js';
import { unknownTools } from '../tools/toolset.js';
import { disallowedModel, isAllowedModel } from '../turn/allowed-models.js';
import { builtinAgents, describedAgent, firstOfEach } from './agent-definitions.js';
import { AgentFiles, agentRoots } from './agent-files.js';
import { AgentPrompts } from './agent-prompts.js';
import { AgentSelection } from './agent-selection.js';
import { AgentServers, type MakeServers } from './agent-servers.js';
import { agentTools } from './agent-tools.js';
import { agentWarnings } from './agent-warnings.js';
import { shownAgent } from './shown-agent.js';
import { ineffectiveOptions, type SubAgentSettings, subAgentSettings } from './sub-agent-settings.js';
import type { SubAgents } from './sub-agents.js';
import { shownTask, taskProgress } from './task-view.js';

/** The session whose agents these are. */
interface AgentSession {
  readonly currentSettings: SessionSettings;
  readonly loadedState: SessionState | undefined;
  readonly skills: {
    contextsOf(names: readonly string[]): Promise<readonly string[]>;
    readonly all: readonly { readonly name: string; readonly enabled: boolean }[];
  };
  readonly tools: {
    readonly planner: {
      isServed(model: string): boolean;
      problemWith(model: string): Promise<string | undefined>;
    };
    serversOfAgent: MakeServers;
    readonly all: readonly ToolSource[];
  };
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
  emit(draft: EphemeralDraft): Promise<string>;
}

/** No agent has that name. */
export class UnknownAgent extends Error {
  override readonly name = 'UnknownAgent';

  constructor(name: string, known: readonly AgentDefinition[]) {
    const names = known.map((agent) => agent.name).join(', ') || 'none';
    super(`Custom agent '${name}' not found. There are: ${names}.`);
  }
}

const defaults = { maxDepth: 3, maxConcurrency: 8, agents: {}, disabled: [] } satisfies SubAgentSettings;

/** The agents of one session: those of apps, files and this program, and the one that leads. */
export class SessionAgents implements ToolSource {
  readonly kind = 'builtin';
  /** Reading the disk takes no time that a sender would notice. */
  readonly isReady = true;
  private atWork: SubAgents | undefined;
  private readonly files = new AgentFiles();
  private ofFiles: readonly AgentDefinition[] = [];
  private problems: readonly string[] = [];
  private readonly warned = new Set<string>();
  private offered: { readonly key: string; readonly tools: readonly Tool[] } = { key: '', tools: [] };
  private readonly listeners = new Set<() => void>();
  private read: { readonly of: JsonObject | null | undefined; readonly settings: SubAgentSettings } = {
    of: undefined,
    settings: defaults,
  };
  private readonly prompts = new AgentPrompts();
  readonly servers: AgentServers;
  /** The one that leads. */
  readonly selection: AgentSelection;

  constructor(
    private readonly session: AgentSession,
    private readonly homes: readonly string[],
  ) {
    this.servers = new AgentServers(
      (servers) => session.tools.serversOfAgent(servers),
      (agentName) => this.serversOf(agentName),
    );
    this.selection = new AgentSelection(session, this);
  }

  /** Those at work. Throws while the session is not in memory. */
  get subAgents(): SubAgents {
    if (!this.atWork) throw new Error('No agent is at work: the session is not in memory');
    return this.atWork;
  }

  /** The session is in memory, with those at work there. */
  loaded(subAgents: SubAgents): void {
    this.atWork = subAgents;
  }

  /** What holds for sub-agents now. */
  get settings(): SubAgentSettings {
    const { subagents } = this.session.loadedState?.fixed ?? {};
    if (subagents !== this.read.of)
      this.read = { of: subagents, settings: { ...defaults, ...subAgentSettings(subagents ?? null) } };
    return this.read.settings;
  }

  async ready(): Promise<void> {
    await this.refresh();
  }

  /** Reads agent files again that have changed, and what the leading agent's skills say. */
  async refresh({ isForced = false } = {}): Promise<void> {
    const state = await this.session.state();
    if (isForced) this.files.expire();
    const { agents, problems } = await this.files.read(this.roots(state));
    const hasChanged = agents !== this.ofFiles || isForced;
    this.ofFiles = agents;
    this.problems = [...problems, ...ineffectiveOptions(state, this.session.currentSettings, this.own)];
    if (hasChanged && (agents.length > 0 || isForced)) this.announce();
    else this.warn();
    await this.selection.prepare(state);
    if (this.updateTools()) for (const listener of this.listeners) listener();
  }

  tools(): readonly Tool[] {
    return this.offered.tools;
  }

  onChange(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.listeners.clear();
  }

  /** The agents that clients and files describe, in the order of precedence. */
  get own(): readonly AgentDefinition[] {
    const { fixed = {} } = this.session.loadedState ?? {};
    const { customAgents = fixed.customAgents ?? [] } = this.session.currentSettings;
    return this.prompts.over(
      firstOfEach(
        customAgents.map((agent: JsonObject) => describedAgent(agent)),
        this.ofFiles,
      ),
    );
  }

  /** The same with those of this program. */
  get all(): readonly AgentDefinition[] {
    const excluded = this.session.currentSettings.excludedBuiltinAgents ?? [];
    return firstOfEach(
      this.own,
      this.prompts.over(builtinAgents.filter(({ name }) => !excluded.includes(name))),
    );
  }

  /** Puts a prompt in the place of an agent's own, for agents that begin from now on. Throws what is wrong. */
  async setPrompt(name: string, prompt: string): Promise<void> {
    await this.refresh();
    this.prompts.set(this.all, name, prompt);
  }

  /** Those that other agents may begin. */
  get startable(): readonly AgentDefinition[] {
    return this.all.filter(({ name, infer }) => infer && !this.settings.disabled.includes(name));
  }

  /** Throws UnknownAgent. */
  require(name: string): AgentDefinition {
    const { all } = this;
    const agent = all.find((each) => each.name === name);
    if (!agent) throw new UnknownAgent(name, all);
    return agent;
  }

  /** Begins an agent in the background for a client. Throws UnknownAgent. */
  async start(given: {
    readonly agentType: string;
    readonly prompt: string;
    readonly name: string;
    readonly description: string;
    readonly model?: string;
  }): Promise<string> {
    await this.refresh();
    const { agentType, ...rest } = given;
    const agent = this.require(agentType);
    const problem = given.model === undefined ? undefined : await this.problemWith(given.model);
    if (problem !== undefined) throw new Error(problem);
    const { subAgents } = this;
    const toolCallId = `client-${agentType}-${Date.now().toString(36)}-${subAgents.tasks.length}`;
    return (await subAgents.start({ ...rest, agent, toolCallId, mode: 'background' })).agentId;
  }

  /** Resolves with the next end of an agent; rejects when the signal aborts. */
  async changed(signal: AbortSignal): Promise<void> {
    await this.subAgents.change(signal);
  }

  /** What sub-agents go by. */
  host() {
    const { session } = this;
    return {
      settings: () => this.settings,
      skillsOf: async (agent: AgentDefinition) => {
        this.warnOf(agent);
        return agent.skills ? session.skills.contextsOf(agent.skills) : [];
      },
      serversOf: ({ name }: AgentDefinition) => this.servers.take(name),
    };
  }

  /** The agents that can lead, as clients see them. */
  async list({ includesBuiltin = false, includesPrompt = false } = {}) {
    await this.refresh();
    return (includesBuiltin ? this.all : this.own).map((agent) => shownAgent(agent, { includesPrompt }));
  }

  /** The sub-agents that were begun, as clients see them. */
  async tasks() {
    const state = await this.session.state();
    return Object.values(state.tasks).map((task) => shownTask(task, state));
  }

  /** One of them; undefined when it is not known. */
  async task(agentId: string) {
    return (await this.tasks()).find(({ id }) => id === agentId);
  }

  /** What a sub-agent did last; undefined when it is not known. */
  async progress(agentId: string) {
    const state = await this.session.state();
    const task = Object.hasOwn(state.tasks, agentId) ? state.tasks[agentId] : undefined;
    return task && taskProgress(task, state);
  }

  /** The prompt that has the root agent split a request up among agents of its own. */
  fleetPrompt(request: string): string {
    return `Work as the lead of a fleet: split the request below into parts, and have sub-agents (tool \`task\`) do them side by side.

1. Look for open todos: \`SELECT id, title, status FROM todos WHERE status != 'done'\`. Without any, write the parts as todos first, with as few dependencies as can be (\`todo_deps\`).
2. Begin agents for all parts that wait for nothing, several in one message. A part that stands alone is done with mode \`sync\`.
3. Tell each agent in its prompt to set its todo to 'done', or to 'blocked' with the reason, and to end with a summary.
4. When agents have ended, look at the todos, not at their words. Check what they did, begin what waited for them, and repair what is missing.

Small requests need no fleet: do them yourself.

User request: ${request}`;
  }

  /** Changes what holds for sub-agents; null is what holds unless something is said. Throws SubAgentSettingsProblem. */
  async change(given: JsonObject | null): Promise<void> {
    subAgentSettings(given);
    await this.session.record({ note: 'settings.fixed', data: { subagents: given } });
    await this.refresh();
    this.subAgents.refresh();
  }

  private async problemWith(model: string): Promise<string | undefined> {
    const { tools } = this.session;
    return disallowedModel(await this.session.state(), model) ?? (await tools.planner.problemWith(model));
  }

  /** A model that the session's services have, and that it may call. */
  private hasModel(model: string): boolean {
    const { tools, loadedState } = this.session;
    return tools.planner.isServed(model) && (!loadedState || isAllowedModel(loadedState, model));
  }

  private roots({ context }: SessionState) {
    const { configDiscovery = true, configDir } = this.session.currentSettings;
    const { cwd, gitRoot } = context;
    if (!configDiscovery) return agentRoots([], this.homes.slice(0, configDir === undefined ? 0 : 1));
    const parent = gitRoot !== undefined && gitRoot !== cwd ? [gitRoot] : [];
    return agentRoots([cwd, ...parent], this.homes);
  }

  /** The tools of servers that agents have of their own. */
  serverTools(): readonly Tool[] {
    return this.servers.tools();
  }

  /** The session may work in other directories now. */
  directoriesChanged(): void {
    this.servers.directoriesChanged();
  }

  /** The session leaves memory: what agents have started ends. */
  async closeServers(): Promise<void> {
    this.selection.clear();
    await this.servers.close();
  }

  /** What clients say of servers lives in memory: after a restart, clients describe them again. */
  private serversOf(agentName: string): Readonly<Record<string, JsonObject>> | undefined {
    const described = this.session.currentSettings.customAgents?.find(({ name }) => name === agentName);
    const { mcpServers } = described ?? {};
    if (typeof mcpServers !== 'object' || mcpServers === null) return undefined;
    return mcpServers as Readonly<Record<string, JsonObject>>; // parsed so when it came
  }

  private updateTools(): boolean {
    const agents = this.startable;
    const key = JSON.stringify(agents);
    if (key === this.offered.key) return false;
    const tools = agentTools({
      agents,
      subAgents: () => this.subAgents,
      problemWithModel: (model) =>
        this.hasModel(model) ? undefined : `The model ${model} is not available.`,
    });
    this.offered = { key, tools };
    return true;
  }

  /** Clients learn what of an agent's description has no effect. */
  warnOf(agent: AgentDefinition): void {
    const warnings = agentWarnings(agent, {
      unknownTools: (names) => unknownTools(this.session.tools.all, names),
      hasSkill: (name) => this.session.skills.all.some((skill) => skill.enabled && skill.name === name),
      hasModel: (model) => this.hasModel(model),
    });
    this.warn(warnings);
  }

  private warn(problems = this.problems): void {
    const fresh = problems.filter((message) => !this.warned.has(message));
    for (const message of fresh) this.warned.add(message);
    if (fresh.length === 0) return;
    void this.session
      .record(
        ...fresh.map(
          (message): Draft => ({ type: 'session.warning', data: { warningType: 'agents', message } }),
        ),
      )
      .catch(unwritable);
  }

  private announce(): void {
    this.warn();
    const agents = this.own.map((agent) => ({
      ...shownAgent(agent),
      source: agent.source,
      tools: agent.tools ? [...agent.tools] : null,
      userInvocable: true,
    }));
    void this.session
      .emit({
        type: 'session.custom_agents_updated',
        data: { agents, errors: [], warnings: [...this.problems] },
      })
      .catch(unwritable);
  }
}

/** A turn that cannot write ends by itself. */
const unwritable = (): undefined => undefined;
