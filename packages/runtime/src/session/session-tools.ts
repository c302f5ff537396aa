import type { JsonObject } from '@groundcrew/protocol';
import type { LogRecord } from '@groundcrew/store';
import type { SessionAgents } from '../agents/session-agents.js';
import type { SessionFileHosting } from '../file-hosting/session-file-hosting.js';
import type { FileTracking } from '../history/file-tracking.js';
import { FileHooks } from '../hooks/file-hooks.js';
import type { HookSource } from '../hooks/hooks.js';
import type { LogReaders } from '../log/log-readers.js';
import { recall } from '../log/recall.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import { readServerConfig } from '../mcp/config.js';
import { elicitFor } from '../mcp/elicitation.js';
import { fileTokens, memoryTokens } from '../mcp/oauth/token-book.js';
import { type McpHost, McpServers, type McpSettings } from '../mcp/servers.js';
import { sessionServers } from '../mcp/session-servers.js';
import { WorkspaceTrust } from '../mcp/workspace-trust.js';
import { forbid } from '../permissions/policy.js';
import { examine } from '../permissions/subject.js';
import type { Instructions } from '../prompt/instructions.js';
import type { ClientRequests } from '../questions/client-requests.js';
import type { ModelAccess, SessionSettings } from '../settings/session-settings.js';
import { clientTool } from '../tools/client-tool.js';
import { defaultOutputBytes, type LargeOutput } from '../tools/output.js';
import { ShellTasks } from '../tools/shell/shell-tasks.js';
import type { McpCall, ToolEnvironment } from '../tools/tool.js';
import { ListedTools, type ToolSource } from '../tools/tool-source.js';
import type { ConfigChange, ModelPlan } from '../turn/agent-context.js';
import { warnAtOnce } from '../turn/option-warnings.js';
import { Planner } from '../turn/planner.js';
import { homeOf } from '../workspace/session-directory.js';
import { spillDirectoryIn } from '../workspace/spilled-output.js';
import type { Audience } from './audience.js';
import type { Conversation } from './conversation.js';
import { modelChange } from './resumption.js';
import type { SessionEnvironment } from './session-environment.js';
import type { SessionPermissions } from './session-permissions.js';
import type { SessionSandbox } from './session-sandbox.js';

/** The session whose tools these are. */
interface ToolSession {
  /** Where its events go, while it is in memory. */
  readonly openLog: SessionLog | undefined;
  readonly loadedState: SessionState | undefined;
  readonly readers: LogReaders;
  readonly sessionId: string;
  readonly audience: Audience;
  readonly workspacePath: string;
  readonly workspace: { readonly planPath: string };
  readonly hosting: SessionFileHosting;
  readonly files: FileTracking;
  readonly sandbox: SessionSandbox;
  readonly permissions: SessionPermissions;
  readonly skills: ToolSource;
  readonly agents: ToolSource &
    Pick<SessionAgents, 'selection' | 'subAgents' | 'serverTools' | 'directoriesChanged'>;
  readonly isReadOnly: boolean;
  state(): Promise<SessionState>;
  read(): AsyncIterable<readonly LogRecord[]>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
  requests(): Promise<ClientRequests>;
  load(): Promise<Conversation>;
}

/** What a session's model may use: the plans of its next calls, and what its tools find around them. */
export class SessionTools {
  readonly planner: Planner;
  readonly mcp: McpServers;
  /** Tools that depend on who is attached. */
  readonly sources: readonly ListedTools[];
  /** All of them. */
  readonly all: readonly ToolSource[];
  /** Commands in the background. */
  readonly shellTasks: ShellTasks;
  private readonly fileHooks: FileHooks;
  private isInitialized = false;
  private readonly ownTokens = memoryTokens();
  private readonly trust: WorkspaceTrust;
  /** What the session's directories followed from when servers last heard of them. */
  private places:
    | (Pick<SessionState, 'context' | 'permissions'> & { readonly settings: SessionSettings })
    | undefined;
  /** What is wrong with files of servers. */
  private fileProblems: readonly string[] = [];

  constructor(
    private readonly session: ToolSession,
    private readonly environment: Pick<
      SessionEnvironment,
      'builtinTools' | 'version' | 'shells' | 'jobs' | 'clock' | 'mcpFiles' | 'hookFiles'
    >,
    { settings, access }: { readonly settings: SessionSettings; readonly access: ModelAccess },
  ) {
    const { audience } = session;
    this.shellTasks = new ShellTasks(environment.shells);
    const builtin = () =>
      environment.builtinTools({
        reportsIntent: audience.reportsIntent,
        answersQuestions: audience.answersQuestions && !this.planner.settings.isAskingDisabled,
        answersPlans: audience.answersPlans,
        mode: this.planner.mode,
      });
    this.fileHooks = this.hooksOfFiles();
    const ofBuild = new ListedTools('builtin', builtin);
    const ofClients = new ListedTools('client', () =>
      audience.tools().map((tool) => clientTool(tool, builtin())),
    );
    this.sources = [ofBuild, ofClients];
    this.trust = new WorkspaceTrust({
      folder: async () => (await session.state()).context.cwd,
      mayStart: (folder, version) => session.permissions.places.mayStartServers(folder, version),
      letStart: (folder, version) => session.permissions.places.letServersStart(folder, version),
      servers: () => this.mcp.list(),
      permit: async (request, signal) => (await session.load()).gate.permit(request, signal),
    });
    this.mcp = new McpServers(this.mcpHost(), this.mcpSettings(settings, access));
    this.all = [ofBuild, session.skills, session.agents, this.mcp, ofClients];
    this.planner = new Planner(this.all, environment.version, settings, access, {
      planPath: () => session.workspace.planPath,
      homeDirectory: homeOf(session.workspacePath),
      leader: (state) => session.agents.selection.leader(state),
      transform: (sections, signal) => audience.transform(sections, { sessionId: session.sessionId, signal }),
    });
    this.planner.optionWarnings.add(this.fileProblems);
  }

  /** Whose hooks are called: those of files, then those of clients in the order in which they came. */
  hooksBy(log: { readonly state: SessionState }) {
    const { fileHooks, session } = this;
    const { audience, sessionId } = session;
    return {
      hookSources: (): readonly HookSource[] => [
        ...fileHooks.sources(log.state),
        ...audience.hookSources(sessionId),
      ],
      /** Why hooks of files cannot be read; once. */
      hookWarning: () => fileHooks.warning(log.state),
    };
  }

  /** Records warnings about options at once, those excepted that clients have received before. */
  warn(messages: readonly string[]): Promise<void> {
    return warnAtOnce(this.session, this.planner.optionWarnings, messages);
  }

  /** Takes what a client that creates or resumes wants changed. */
  configure(settings: SessionSettings, access: ModelAccess): void {
    this.planner.configure(settings, access);
    this.mcp.configure(this.mcpSettings(settings, access));
  }

  /** Records were stored: servers hear of it when the session works in other directories after them. */
  stored({ context, permissions }: SessionState): void {
    const { settings } = this.planner;
    const { places } = this;
    if (places?.context === context && places.permissions === permissions && places.settings === settings)
      return;
    this.places = { context, permissions, settings };
    this.mcp.directoriesChanged();
    this.session.agents.directoriesChanged();
  }

  /** What the user has enabled for every session, no client turns off. */
  private hooksOfFiles(): FileHooks {
    const { hookFiles, shells, jobs } = this.environment;
    return new FileHooks({
      jobs,
      isOn: ({ fixed }) =>
        hookFiles?.isAlwaysOn === true || (this.planner.settings.fileHooks ?? fixed.fileHooks ?? false),
      read: ({ context: { cwd: workingDirectory, gitRoot: projectDirectory } }) => {
        const { configDir } = this.planner.settings;
        return hookFiles?.read({ workingDirectory, projectDirectory, configDir }) ?? { hooks: [] };
      },
      programs: shells.machine,
      confinement: () => this.session.sandbox.confinement(),
    });
  }

  /** What the next model call would go by. */
  async plan(): Promise<ModelPlan> {
    return this.planner.plan(await this.session.state());
  }

  /** Puts the tools together before any turn needs them. */
  async initialize(): Promise<void> {
    await this.plan();
    this.isInitialized = true;
  }

  /** The tools that the model sees; undefined before they were put together for the first time. */
  async current(): Promise<ModelPlan['toolset'] | undefined> {
    const { userTurns } = await this.session.state();
    return userTurns > 0 || this.isInitialized ? (await this.plan()).toolset : undefined;
  }

  /** What files say to the model now. */
  async instructions(): Promise<Instructions> {
    return this.planner.instructions(await this.session.state());
  }

  /** What tools, and users who run commands, find around them. */
  async toolEnvironment(): Promise<ToolEnvironment> {
    return this.toolEnvironmentIn(await this.session.state());
  }

  /** The same by a state that is known. */
  toolEnvironmentIn(state: SessionState): ToolEnvironment {
    const { sandbox, workspacePath: sessionDirectory, permissions, hosting: sync, files } = this.session;
    const { shells, jobs } = this.environment;
    return {
      workingDirectory: state.context.cwd,
      sessionDirectory,
      ...(sync.isOn && { sync }),
      allowedDirectories: permissions.places.list(state).directories,
      homeDirectory: homeOf(sessionDirectory),
      largeOutput: {
        ...largeOutput(this.planner.settings.largeOutput, sessionDirectory),
        ...(sync.isOn && { sync }),
      },
      shells,
      confinement: () => sandbox.confinement(),
      unenforcedRules: () => sandbox.unenforcedRules(),
      jobs,
      recordWrite: (write, work) =>
        files.record(write, async () => {
          const result = await work();
          await sync.push(write.real);
          return result;
        }),
      recall: (request, signal) => {
        const { subAgents } = this.session.agents;
        const sees = (agentId: string | undefined) => subAgents.leads(request.agentId, agentId);
        return recall(this.session.read(), { ...request, sees }, signal);
      },
    };
  }

  /**
   * Judges a call that an app of a server makes: hooks, rules and plan mode hold for it. No model asks for it, so users are
   * asked where hooks want that only.
   */
  async reviewMcpCall(call: McpCall, isReadOnly: boolean, signal: AbortSignal) {
    const { serverName, toolName: tool } = call;
    const found = this.mcp
      .tools()
      .find(({ mcp }) => mcp?.mcpServerName === serverName && mcp.mcpToolName === tool);
    const name = found?.name ?? `${serverName}-${tool}`;
    const { gate } = await this.session.load();
    const question = (args: JsonObject) => ({
      request: {
        kind: 'mcp' as const,
        serverName,
        toolName: name,
        toolTitle: tool,
        args,
        readOnly: isReadOnly,
      },
    });
    return gate.reviewForeign({ name, mcpCall: call, question }, signal);
  }

  /** Asks the session's model for a server; throws when the request is none, or is refused. */
  async sample(serverName: string, request: Readonly<Record<string, unknown>>, signal: AbortSignal) {
    const { readSampling } = await import('../mcp/sampling.js');
    return (await this.session.load()).sample(serverName, readSampling(request), signal);
  }

  /** By its name, a short form of how each tool of a server is described now, be it the session's or an agent's own. */
  versionsOf(serverName: string): Readonly<Record<string, string>> {
    const tools = [...this.mcp.tools(), ...this.session.agents.serverTools()];
    return Object.fromEntries(
      tools.flatMap(({ name, mcp, version }) =>
        mcp?.mcpServerName === serverName && version !== undefined ? [[name, version]] : [],
      ),
    );
  }

  /** The servers of one agent: as the session's own, but listed nowhere, for no other agent has them. */
  serversOfAgent(servers: Readonly<Record<string, JsonObject>>): McpServers {
    const host = this.mcpHost();
    const { disabledMcpServers: disabled = [], envValueMode = 'direct' } = this.planner.settings;
    const named = Object.entries(servers).map(([name, raw]) => [name, readServerConfig(raw)] as const);
    const others = () =>
      this.mcp.tools().filter(({ mcp }) => !Object.hasOwn(servers, mcp?.mcpServerName ?? ''));
    const made = new McpServers(
      {
        ...host,
        emit: (draft) => {
          if (draft.type !== 'session.mcp_servers_loaded') host.emit(draft);
        },
        takenNames: () => new Set([...host.takenNames(), ...others().map(({ name }) => name)]),
      },
      { servers: new Map(named), disabled, envValueMode },
    );
    made.directoriesChanged();
    return made;
  }

  /** A server asks a model: clients that registered interest in such answer, else the session's own model. */
  private async sampleForServer(...asked: Parameters<McpHost['sample']>): ReturnType<McpHost['sample']> {
    const { session } = this;
    const [serverName, request, signal, mcpRequestId] = asked;
    if (!session.readers.isWanted('sampling.requested'))
      return (await session.load()).sample(serverName, request, signal);
    const { sampleByClients, samplingName } = await import('../mcp/sampling.js');
    const { messages, systemPrompt, maxTokens } = request;
    const args = { messages, systemPrompt } as unknown as JsonObject;
    const toolTitle = 'Ask the model';
    const refusal = await this.prohibitionOf({ serverName, toolName: samplingName, toolTitle, args });
    if (refusal !== undefined) throw new Error(refusal);
    const shown = { messages, maxTokens, ...(systemPrompt !== undefined && { systemPrompt }) };
    return sampleByClients({ serverName, mcpRequestId, request: shown }, await session.requests(), signal);
  }

  private async prohibitionOf(asked: McpQuestion): Promise<string | undefined> {
    const { session } = this;
    const state = await session.state();
    const request = { kind: 'mcp' as const, readOnly: false, ...asked };
    const { toolName } = asked;
    const subject = await examine({ request }, { toolName, workingDirectory: state.context.cwd });
    return forbid(subject, session.permissions.prohibitions(state))?.because;
  }

  private mcpSettings(settings: SessionSettings, access: ModelAccess): McpSettings {
    const servers = sessionServers(settings, access, this.environment.mcpFiles);
    this.planner?.optionWarnings.add(servers.problems);
    this.fileProblems = servers.problems;
    return servers.settings;
  }

  private mcpHost(): McpHost {
    const { session, environment } = this;
    const { clock, version, shells } = environment;
    return {
      clock,
      version,
      programs: shells.machine,
      workingDirectory: async () => (await session.state()).context.cwd,
      confinement: () => session.sandbox.confinement(),
      directories: () => {
        const { loadedState } = session;
        return loadedState ? session.permissions.places.list(loadedState).directories : [];
      },
      emit: (draft) => void session.openLog?.emit(draft),
      isWanted: (eventType) => session.readers.isWanted(eventType),
      warn: (message) =>
        void session.openLog?.append({ type: 'session.warning', data: { warningType: 'mcp', message } }),
      mayStart: (_, config, signal) => this.trust.mayStart(config, signal),
      abilities: () => ({
        forms: session.audience.showsForms,
        apps: this.planner.settings.hasMcpApps ?? false,
      }),
      elicit: async (serverName, params, signal) =>
        elicitFor(serverName, params, await session.requests(), signal),
      sample: (...asked) => this.sampleForServer(...asked),
      tokens: () =>
        this.planner.settings.keepsTokensInMemory
          ? this.ownTokens
          : fileTokens(homeOf(session.workspacePath)),
      takenNames: () => new Set(this.sources.flatMap((source) => source.tools().map(({ name }) => name))),
    };
  }

  /** A hook changes what the session goes by; what it leaves out stays. */
  async reconfigure({ model, reasoningEffort, ...filters }: ConfigChange): Promise<void> {
    const { planner, session } = this;
    const { availableTools, excludedTools } = filters;
    planner.adjust({
      ...(availableTools && { availableTools }),
      ...(excludedTools && { excludedTools }),
    });
    const changes = { ...(model && { model }), ...(reasoningEffort && { reasoningEffort }) };
    const state = await session.state();
    planner.optionWarnings.add(planner.filterWarnings());
    await session.record(
      ...modelChange(state, changes, planner.model(state)),
      ...planner.optionWarnings.take(),
    );
  }
}

/** What a server is to do, or wants done. */
interface McpQuestion {
  readonly serverName: string;
  readonly toolName: string;
  readonly toolTitle: string;
  readonly args: JsonObject;
}

function largeOutput(wish: SessionSettings['largeOutput'], sessionDirectory: string): LargeOutput {
  const { enabled = true, maxSizeBytes = defaultOutputBytes, outputDir } = wish ?? {};
  return {
    isEnabled: enabled,
    maxBytes: maxSizeBytes,
    directory: outputDir || spillDirectoryIn(sessionDirectory),
    sessionDirectory,
  };
}
