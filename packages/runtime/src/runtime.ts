import {
  isOutdated,
  type NodeFigures,
  type SessionContext,
  type SessionHead,
  type SessionQuery,
  type SessionSummary,
  type StoreError,
} from '@groundcrew/store';
import { withOwners } from './agents/agent-definitions.js';
import { HostAgents } from './agents/host-agents.js';
import { UnknownAgent } from './agents/session-agents.js';
import { subAgentSettings } from './agents/sub-agent-settings.js';
import { ownCommands } from './commands/session-commands.js';
import { requireSandbox } from './exec/machine-sandbox.js';
import { UnfinishedLogs } from './history/unfinished-logs.js';
import { type Lifecycle, metadataOf, metadataOfHead } from './lifecycle.js';
import { LiveSessions } from './live-sessions.js';
import type { PublishedEvent } from './log/published-event.js';
import type { SessionLog } from './log/session-log.js';
import { logInAtMcpServer, probeMcpServer } from './mcp/probe.js';
import { ApprovalBook } from './permissions/approval-book.js';
import { modelSeams } from './questions/provider-tokens.js';
import { ReleasedSessions } from './released-sessions.js';
import type { RuntimeOptions } from './runtime-options.js';
import { Audience } from './session/audience.js';
import {
  type OpenRequest,
  type ResumeChanges,
  type ResumeRequest,
  settlePending,
} from './session/resumption.js';
import { Session } from './session/session.js';
import { adoptedSettings, namingProvider } from './settings/adopted-settings.js';
import { newlyFixed } from './settings/provider-settings.js';
import type { ModelAccess, SessionSettings } from './settings/session-settings.js';
import { HostSkills } from './skills/host-skills.js';
import { StoredSessions } from './stored-sessions.js';
import { answeringClients } from './tools/builtin.js';
import type { Tool } from './tools/tool.js';
import { checkDirectory, directoryContext } from './workspace/check-directory.js';
import { sessionDirectoryIn } from './workspace/session-directory.js';

/** The sessions of one process. */
export class Runtime {
  private readonly listeners = new Set<(lifecycle: Lifecycle) => void>();
  /** Starts an MCP server outside any session, looks what it offers, and ends it. */
  static readonly probeMcpServer = probeMcpServer;
  /** The slash commands that every session has. */
  static readonly commands = ownCommands;
  /** Logs in at an MCP server outside any session. */
  static readonly logInAtMcpServer = logInAtMcpServer;
  private readonly live: LiveSessions;
  private readonly unfinished: UnfinishedLogs;
  /** How sessions leave this node. */
  readonly left: ReleasedSessions;
  readonly skills: HostSkills;
  readonly agents: HostAgents;
  /** The sessions of the usual home, open or not. */
  readonly stored: StoredSessions;

  constructor(private readonly options: RuntimeOptions) {
    this.skills = new HostSkills(options.homeDirectory);
    this.agents = new HostAgents(options.homeDirectory);
    this.live = new LiveSessions(options);
    this.unfinished = new UnfinishedLogs(options.owner);
    this.left = new ReleasedSessions(this.live, options.cluster);
    this.stored = new StoredSessions(() => ({
      ...options.home(),
      owner: options.owner,
      clock: options.clock,
      find: (sessionId) => this.live.find(sessionId),
      remove: (sessionId) => this.remove(sessionId),
      onForked: ({ sessionId, head }) =>
        this.broadcast({ type: 'session.created', sessionId, metadata: metadataOfHead(head) }),
    }));
  }

  /** Sessions that are open now. */
  get liveSessions(): readonly Session[] {
    return this.live.all();
  }

  /** What this runtime does now. */
  get figures(): Pick<NodeFigures, 'prompts' | 'questions' | 'running' | 'sessions' | 'turns'> {
    return this.live.figures;
  }

  /** Sessions that are open here. */
  get liveCount(): number {
    return this.live.ids.length;
  }

  find(sessionId: string): Session | undefined {
    return this.live.find(sessionId);
  }

  /** Makes a session, or opens the one that has the id. */
  create(request: OpenRequest): Promise<Session> {
    return this.live.oneAtATime(request.sessionId, async () => {
      const live = this.live.find(request.sessionId);
      if (live) return this.join(live, request);
      const waiting = this.live.waitingSettings(request.sessionId);
      const session = await this.newSession(request, waiting);
      session.attach(request.attachment);
      session.optionWarnings.add(request.warnings);
      const isNew = await session.create();
      this.live.add(session);
      await session.hosting.open().catch((error: unknown) => this.giveUp(session, isNew, error));
      if (isNew) await this.announce('session.created', session);
      else if (!session.isReadOnly) await session.keepGuard({});
      if (!isNew && waiting) await this.goOn(session);
      // The client may look for `session.start` as soon as it is answered.
      await this.lead(session, request, isNew);
      if (isNew) await (await session.load()).log.published();
      return session;
    });
  }

  /** Attaches to a session, live or stored; throws StoreError `unknown_session` or `in_use`. */
  resume(request: ResumeRequest): Promise<Session> {
    return this.live.oneAtATime(request.sessionId, () =>
      this.open(request).catch((error: unknown) => {
        if (!isOutdated(error)) throw error;
        // Another process has had the session since, or the store lost its end: the copy in memory is of no use.
        this.live.find(request.sessionId)?.keeper.discard();
        return this.open(request);
      }),
    );
  }

  /** The sessions of this process, in memory or at rest. */
  get openIds(): readonly string[] {
    return this.live.ids;
  }

  /** Goes on with what another node has left of a session, by what its log says and without a client. Throws StoreError. */
  adopt(sessionId: string, head: SessionHead): Promise<void> {
    return this.live.oneAtATime(sessionId, async () => {
      const known = this.live.find(sessionId);
      if (known?.isLoaded) return;
      const attachment = { clientId: '' } as OpenRequest['attachment'];
      const settings = () => adoptedSettings(head);
      const session = known ?? (await this.newSession({ sessionId, settings, attachment, warnings: [] }));
      const conversation = await session.load();
      this.live.add(session);
      if (!session.isReadOnly) await conversation.continueWork();
      if (!conversation.isRunning) setImmediate(() => void this.live.unloadIfUnused(session));
      else this.live.unloadWhenAlone(session);
    });
  }

  /** Takes a client off a session; the last one closes it, and a session without a prompt is removed. */
  detachClient(sessionId: string, clientId: string): Promise<boolean> {
    return this.live.oneAtATime(sessionId, async () => {
      const session = this.live.find(sessionId);
      if (!session) return false;
      const isLast = session.audience.size === 1 && session.audience.has(clientId);
      if (!isLast) return session.detach(clientId) || true;
      const { userTurns, inbox } = await session.close().catch(() => emptyClosing);
      session.detach(clientId);
      this.live.remove(sessionId);
      if (userTurns === 0 && inbox.length === 0) await this.removeStored(session);
      return true;
    });
  }

  /** Closes a live session for all of its clients; what is stored stays. False when it was not open. */
  close(sessionId: string, ending: { readonly errorReason?: string } = {}): Promise<boolean> {
    return this.live.oneAtATime(sessionId, async () => {
      const session = this.live.find(sessionId);
      if (!session) return false;
      await session.close(ending);
      this.live.remove(sessionId);
      return true;
    });
  }

  /** Takes a client off that is gone; its sessions work on to their end, or to their first question. */
  detachLostClient(sessionId: string, clientId: string): void {
    const session = this.live.find(sessionId);
    if (!session?.detach(clientId)) return;
    if (session.audience.size === 0) void this.live.unloadIfUnused(session);
  }

  /** Removes a session, live or stored. */
  async remove(sessionId: string): Promise<boolean> {
    return this.live.oneAtATime(sessionId, async () => {
      const session = this.live.find(sessionId);
      await session?.close().catch(() => emptyClosing);
      const { configDir } = session?.currentSettings ?? this.live.waitingSettings(sessionId) ?? {};
      this.live.remove(sessionId);
      this.live.endWait(sessionId);
      const { store } = this.options.home(configDir);
      const isRemoved = await store.remove(sessionId, this.options.owner);
      if (isRemoved) this.broadcast({ type: 'session.deleted', sessionId });
      await this.unfinished.remove(store);
      await store.erased();
      return isRemoved;
    });
  }

  list(query: SessionQuery = {}): Promise<readonly SessionSummary[]> {
    return this.stored.list(query);
  }

  /** The tools that every session has unless its filters hide them, and those that need a client that answers. */
  builtinTools(): readonly Tool[] {
    return this.options.builtinTools(answeringClients);
  }

  onLifecycle(listener: (lifecycle: Lifecycle) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Closes every session and ends what they run; running turns stay as pending work. */
  async shutdown(): Promise<void> {
    await this.live.endWithProcess();
    await this.options.shells.close();
  }

  private async open(request: ResumeRequest): Promise<Session> {
    const live = this.live.find(request.sessionId);
    const context = newContext(request.changes);
    const waiting = this.live.waitingSettings(request.sessionId);
    const session = live ? await this.adapt(live, request) : await this.newSession(request, waiting);
    const isWarm = session.isLoaded || waiting !== undefined;
    const conversation = await session.load({ force: request.takeOver });
    session.attach(request.attachment, { resumes: true });
    session.optionWarnings.add(request.warnings);
    if (session.hosting.problem) session.optionWarnings.add([session.hosting.problem]);
    this.live.add(session);
    if (session.isReadOnly) return session;
    const named = namingProvider(session.currentSettings, (await session.state()).fixed);
    if (named) await this.reconfigure(session, named);
    if (waiting) await this.goOn(session);
    await session.hosting.open();
    const wasActive = isWarm && (await settlePending(conversation, request));
    if (!isWarm && !request.continuePendingWork) await conversation.closeInterrupted();
    await session.keepGuard(request);
    await this.lead(session, request, false);
    await session.announceResumed({ ...request, wasActive, ...(context && { context }) });
    if (request.continuePendingWork) await conversation.continueWork();
    conversation.offers.renew();
    return session;
  }

  /** Has the agent lead that a client names; a new session whose agent does not exist is not made. */
  private async lead(session: Session, { agent }: OpenRequest, isNew: boolean): Promise<void> {
    if (agent === undefined) return;
    await session.agents.selection
      .select(agent)
      .catch((error: unknown) => this.giveUp(session, isNew, error));
  }

  /** A new session that cannot be as its client wants it is not made. */
  private async giveUp(session: Session, isNew: boolean, error: unknown): Promise<never> {
    if (isNew) {
      await session.close().catch(() => emptyClosing);
      this.live.remove(session.sessionId);
      await this.removeStored(session);
      if (error instanceof UnknownAgent) throw new Error(`session construction failed: ${error.message}`);
    }
    throw error;
  }

  private async newSession(request: OpenRequest, before?: SessionSettings): Promise<Session> {
    const settings = withOwners(request.settings(before), before, {
      owner: request.attachment.clientId,
      isAttached: () => false,
    });
    checkDirectory(settings.workingDirectory);
    subAgentSettings(settings.subagents ?? null);
    await this.requireSandbox(settings);
    const home = this.options.home(settings.configDir);
    const audience = new Audience();
    const access = await this.options.openModels(settings, modelSeams(request.sessionId, audience));
    const parts = {
      ...this.options,
      store: home.store,
      audience,
      shells: this.options.shells.forSession(),
      book: this.bookOf(home.directory),
      hostSkills: this.skills,
      homes: [...new Set([home.directory, this.options.homeDirectory])],
      priceOf: async (model: string) => this.options.priceOf?.(model),
      userRules: () => this.options.userRules(settings.configDir),
      workspacePath: sessionDirectoryIn(home.directory, request.sessionId),
      onPublished: (published: PublishedEvent) => {
        this.live.noteActivity(published);
        this.options.observer?.published(published);
      },
      onPublishedAll: (session: Session) => this.broadcastUpdated(session),
      onHeld: (session: Session) => this.live.unloadWhenAlone(session),
      leaves: (error: StoreError, log: SessionLog) => this.left.leaves(error, log),
    };
    return new Session(request.sessionId, parts, settings, access);
  }

  /** Nodes agree on the approvals of their usual homes. */
  private bookOf(directory: string): ApprovalBook {
    const { cluster, homeDirectory, withFileLock } = this.options;
    return new ApprovalBook(directory, withFileLock, directory === homeDirectory ? cluster?.book : undefined);
  }

  /** Keeps the copy of the approvals in the home up to date, where nodes share them. Throws BookFault. */
  async refreshBook(text: string): Promise<void> {
    await new ApprovalBook(this.options.homeDirectory, this.options.withFileLock).replace(text);
  }

  /** Why no sandbox works on this machine; undefined when one does. */
  async sandboxProblem(): Promise<string | undefined> {
    const probe = await this.options.shells.sandbox.probe();
    return probe.type === 'missing' ? probe.reason : undefined;
  }

  /** Throws SandboxUnavailable. */
  private async requireSandbox({ sandbox }: SessionSettings): Promise<void> {
    const { shells } = this.options;
    await requireSandbox(sandbox ?? shells.options.sandbox ?? {}, shells.sandbox);
  }

  private async reconfigure(session: Session, settings: SessionSettings): Promise<void> {
    subAgentSettings(settings.subagents ?? null);
    if (settings.sandbox !== session.currentSettings.sandbox) await this.requireSandbox(settings);
    session.configure(settings, await this.models(session, settings));
  }

  /** The way to a session's models as it is now, or would be. */
  models(session: Session, settings = session.currentSettings): Promise<ModelAccess> {
    return this.options.openModels(settings, modelSeams(session.sessionId, session.audience));
  }

  /** Changes what a live session goes by, one change after the other: what each leaves out stays. */
  change(session: Session, change: (before: SessionSettings) => SessionSettings): Promise<void> {
    return this.live.oneAtATime(session.sessionId, async () => {
      await this.reconfigure(session, change(session.currentSettings));
      const fixed = newlyFixed((await session.state()).fixed, session.currentSettings);
      if (fixed) await session.record({ note: 'settings.fixed', data: fixed });
    });
  }

  private async join(session: Session, request: OpenRequest): Promise<Session> {
    await this.adapt(session, request);
    session.attach(request.attachment);
    await session.keepGuard({});
    await session.hosting.open();
    (await session.load()).offers.renew();
    await session.tools.warn(request.warnings);
    return session;
  }

  /** A client that cannot be attached changes nothing. */
  private async adapt(session: Session, request: OpenRequest): Promise<Session> {
    session.audience.check(request.attachment);
    const before = session.currentSettings;
    const who = { owner: request.attachment.clientId, isAttached: (id: string) => session.audience.has(id) };
    await this.reconfigure(session, withOwners(request.settings(before), before, who));
    return session;
  }

  /** Takes a turn up that waited while its session was unloaded; its questions may be answered from then on. */
  private async goOn(session: Session): Promise<void> {
    this.live.endWait(session.sessionId);
    await (await session.load()).continueWork();
  }

  /** Throws StoreError. */
  private async removeStored(session: Session): Promise<void> {
    const { configDir } = session.currentSettings;
    await this.options.home(configDir).store.remove(session.sessionId, this.options.owner);
  }

  private broadcastUpdated(session: Session): void {
    const state = session.loadedState;
    if (!state || !this.live.has(session.sessionId)) return;
    this.broadcast({ type: 'session.updated', sessionId: session.sessionId, metadata: metadataOf(state) });
  }

  private async announce(type: 'session.created', session: Session): Promise<void> {
    this.broadcast({ type, sessionId: session.sessionId, metadata: metadataOf(await session.state()) });
  }

  private broadcast(lifecycle: Lifecycle): void {
    for (const listener of this.listeners) listener(lifecycle);
  }
}

/** Of a session that could not be closed: another process has it, or its store is gone. */
const emptyClosing = { userTurns: -1, inbox: [] };

function newContext({ workingDirectory }: ResumeChanges): SessionContext | undefined {
  if (workingDirectory === undefined) return undefined;
  return directoryContext(workingDirectory);
}
