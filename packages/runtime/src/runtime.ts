import type { Price } from '@groundcrew/models';
import {
  isStale,
  type Owner,
  type SessionContext,
  type SessionQuery,
  type SessionStore,
  type SessionSummary,
  type WithFileLock,
} from '@groundcrew/store';
import { withOwners } from './agents/definition.js';
import { HostAgents } from './agents/host-agents.js';
import { UnknownAgent } from './agents/session-agents.js';
import type { Clock } from './clock.js';
import { requireSandbox } from './exec/require-sandbox.js';
import type { JobRunner } from './exec/workers.js';
import type { HookFilesReader } from './hooks/hook-files.js';
import { type Lifecycle, metadataOf } from './lifecycle.js';
import type { PublishedEvent } from './log/published-event.js';
import type { McpFiles } from './mcp/files.js';
import { probeMcpServer } from './mcp/probe.js';
import { OneAtATime } from './one-at-a-time.js';
import { ApprovalBook } from './permissions/approval-book.js';
import type { UserRulesReader } from './permissions/user-rules.js';
import { modelSeams } from './questions/provider-tokens.js';
import { Audience } from './session/audience.js';
import {
  type OpenRequest,
  type ResumeChanges,
  type ResumeRequest,
  settlePending,
} from './session/resumption.js';
import { Session } from './session/session.js';
import { newlyFixed } from './settings/provider-settings.js';
import type { ModelAccess, ModelSeams, SessionSettings } from './settings/session-settings.js';
import { HostSkills } from './skills/host-skills.js';
import { answeringClients, type Clients } from './tools/builtin.js';
import type { Shells } from './tools/shell/shells.js';
import type { Tool } from './tools/tool.js';
import type { TurnLimits } from './turn/context.js';
import { checkDirectory, directoryContext } from './workspace/check-directory.js';
import { sessionDirectoryIn } from './workspace/session-directory.js';

/** One place where sessions are kept: a store and the directories beside it. */
export interface Home {
  readonly directory: string;
  readonly store: SessionStore;
}

export interface RuntimeOptions {
  /** The home of sessions that name none, and of those that name a `configDir`. */
  home(configDir?: string): Home;
  /** The directory of the home of sessions that name none. */
  readonly homeDirectory: string;
  openModels(settings: SessionSettings, seams: ModelSeams): Promise<ModelAccess>;
  builtinTools(clients: Clients): readonly Tool[];
  readonly shells: Shells;
  /** Where work goes that could take long. */
  readonly jobs: JobRunner;
  /** What a model costs, if anybody knows; without it nobody does. */
  priceOf?(model: string): Promise<Price | undefined>;
  /** The user's own rules, for every session of this process. */
  readonly userRules: UserRulesReader;
  /** MCP servers of files; without it there are none. */
  readonly mcpFiles?: McpFiles;
  /** Reads the hooks of files; without it there are none. */
  readonly hookFiles?: HookFilesReader;
  readonly withFileLock: WithFileLock;
  readonly owner: Owner;
  readonly clock: Clock;
  readonly version: string;
  readonly limits: TurnLimits;
  /** Sessions idle for so long are unloaded; 0 means never. */
  readonly sessionIdleSeconds: number;
}

/** The sessions of one process. */
export class Runtime {
  private readonly sessions = new Map<string, Session>();
  private readonly opening = new OneAtATime();
  private readonly listeners = new Set<(lifecycle: Lifecycle) => void>();
  /** Sessions whose turn waits for users while no client is attached, and what they go by. */
  private readonly resting = new Map<string, SessionSettings>();
  /** Starts an MCP server outside any session, looks what it offers, and ends it. */
  static readonly probeMcpServer = probeMcpServer;
  readonly skills: HostSkills;
  readonly agents: HostAgents;
  private readonly activeAt = new Map<string, number>();
  private idleTimer: NodeJS.Timeout | undefined;

  constructor(private readonly options: RuntimeOptions) {
    this.skills = new HostSkills(options.homeDirectory);
    this.agents = new HostAgents(options.homeDirectory);
    const { sessionIdleSeconds } = options;
    if (sessionIdleSeconds > 0) {
      this.idleTimer = setInterval(
        () => void this.unloadIdle(),
        Math.max(50, (sessionIdleSeconds * 1000) / 4),
      ).unref();
    }
  }

  find(sessionId: string): Session | undefined {
    return this.sessions.get(sessionId);
  }

  /** Makes a session, or opens the one that has the id. */
  create(request: OpenRequest): Promise<Session> {
    return this.opening.run(request.sessionId, async () => {
      const live = this.sessions.get(request.sessionId);
      if (live) return this.join(live, request);
      const rested = this.resting.get(request.sessionId);
      const session = await this.newSession(request, rested);
      session.attach(request.attachment);
      session.optionWarnings.add(request.warnings);
      const isNew = await session.create();
      this.sessions.set(session.sessionId, session);
      if (isNew) await this.announce('session.created', session);
      else if (!session.isReadOnly) await session.keepGuard({});
      if (!isNew && rested) await this.goOn(session);
      // The client may look for `session.start` as soon as it is answered.
      await this.lead(session, request, isNew);
      if (isNew) await (await session.load()).log.published();
      return session;
    });
  }

  /** Attaches to a session, live or stored; throws StoreError `unknown_session` or `in_use`. */
  resume(request: ResumeRequest): Promise<Session> {
    return this.opening.run(request.sessionId, () =>
      this.open(request).catch((error: unknown) => {
        if (!isStale(error)) throw error;
        // Another process has had the session since: the copy in memory is of no use.
        this.sessions.get(request.sessionId)?.dropLoaded();
        return this.open(request);
      }),
    );
  }

  /** Takes a client off a session; the last one closes it, and a session without a prompt is removed. */
  detachClient(sessionId: string, clientId: string): Promise<boolean> {
    return this.opening.run(sessionId, async () => {
      const session = this.sessions.get(sessionId);
      if (!session) return false;
      const isLast = session.audience.size === 1 && session.audience.has(clientId);
      if (!isLast) return session.detach(clientId) || true;
      const { userTurns, inbox } = await session.close().catch(() => emptyClosing);
      session.detach(clientId);
      this.dropLive(sessionId);
      if (userTurns === 0 && inbox.length === 0) await this.removeStored(session);
      return true;
    });
  }

  /** Takes a client off that is gone; its sessions work on to their end, or to their first question. */
  detachLostClient(sessionId: string, clientId: string): void {
    const session = this.sessions.get(sessionId);
    if (!session?.detach(clientId)) return;
    if (session.audience.size === 0) void this.unloadIfUnused(session);
  }

  /** Removes a session, live or stored. */
  async remove(sessionId: string, configDir?: string): Promise<boolean> {
    return this.opening.run(sessionId, async () => {
      const session = this.sessions.get(sessionId);
      await session?.close().catch(() => emptyClosing);
      const { configDir: itsOwn = configDir } = session?.currentSettings ?? this.resting.get(sessionId) ?? {};
      this.dropLive(sessionId);
      this.resting.delete(sessionId);
      const { store } = this.options.home(itsOwn);
      const isRemoved = await store.remove(sessionId, this.options.owner);
      if (isRemoved) this.broadcast({ type: 'session.deleted', sessionId });
      await store.erased();
      return isRemoved;
    });
  }

  async list(query: SessionQuery = {}): Promise<readonly SessionSummary[]> {
    const items: SessionSummary[] = [];
    let cursor: string | undefined;
    do {
      const page = await this.options
        .home()
        .store.list({ ...query, ...(cursor !== undefined && { cursor }) });
      items.push(...page.items);
      cursor = page.cursor;
    } while (cursor !== undefined && query.limit === undefined);
    return items;
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
    clearInterval(this.idleTimer);
    await Promise.allSettled([...this.sessions.values()].map((session) => session.endWithProcess()));
    this.sessions.clear();
    await this.options.shells.close();
  }

  private async open(request: ResumeRequest): Promise<Session> {
    const live = this.sessions.get(request.sessionId);
    const context = newContext(request.changes);
    const rested = this.resting.get(request.sessionId);
    const session = live ? await this.adapt(live, request) : await this.newSession(request, rested);
    const isWarm = session.isLoaded || rested !== undefined;
    const conversation = await session.load({ force: request.takeOver });
    session.attach(request.attachment, { resumes: true });
    session.optionWarnings.add(request.warnings);
    this.sessions.set(session.sessionId, session);
    if (session.isReadOnly) return session;
    if (rested) await this.goOn(session);
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
    await session.agents.select(agent).catch(async (error: unknown) => {
      if (isNew) {
        await session.close().catch(() => emptyClosing);
        this.dropLive(session.sessionId);
        await this.removeStored(session);
        if (error instanceof UnknownAgent) throw new Error(`session construction failed: ${error.message}`);
      }
      throw error;
    });
  }

  private async newSession(request: OpenRequest, before?: SessionSettings): Promise<Session> {
    const settings = withOwners(request.settings(before), before, {
      owner: request.attachment.clientId,
      isAttached: () => false,
    });
    checkDirectory(settings.workingDirectory);
    await this.requireSandbox(settings);
    const home = this.options.home(settings.configDir);
    const audience = new Audience();
    const access = await this.options.openModels(settings, modelSeams(request.sessionId, audience));
    const parts = {
      ...this.options,
      store: home.store,
      audience,
      shells: this.options.shells.forSession(),
      book: new ApprovalBook(home.directory, this.options.withFileLock),
      hostSkills: this.skills,
      homes: [...new Set([home.directory, this.options.homeDirectory])],
      priceOf: async (model: string) => this.options.priceOf?.(model),
      userRules: () => this.options.userRules(settings.configDir),
      workspacePath: sessionDirectoryIn(home.directory, request.sessionId),
      onPublished: (published: PublishedEvent) => this.noteActivity(published),
      onPublishedAll: (session: Session) => this.broadcastUpdated(session),
      onHeld: (session: Session) => this.unloadWhenAlone(session),
    };
    return new Session(request.sessionId, parts, settings, access);
  }

  /** Throws SandboxUnavailable. */
  private async requireSandbox({ sandbox }: SessionSettings): Promise<void> {
    const { shells } = this.options;
    await requireSandbox(sandbox ?? shells.options.sandbox ?? {}, shells.sandbox);
  }

  private async reconfigure(session: Session, settings: SessionSettings): Promise<void> {
    if (settings.sandbox !== session.currentSettings.sandbox) await this.requireSandbox(settings);
    session.configure(settings, await this.models(session, settings));
  }

  /** The way to a session's models as it is now, or would be. */
  models(session: Session, settings = session.currentSettings): Promise<ModelAccess> {
    return this.options.openModels(settings, modelSeams(session.sessionId, session.audience));
  }

  /** Changes what a live session goes by, one change after the other: what each leaves out stays. */
  change(session: Session, change: (before: SessionSettings) => SessionSettings): Promise<void> {
    return this.opening.run(session.sessionId, async () => {
      await this.reconfigure(session, change(session.currentSettings));
      const fixed = newlyFixed((await session.state()).fixed, session.currentSettings);
      if (fixed) await session.record({ note: 'settings.fixed', data: fixed });
    });
  }

  private async join(session: Session, request: OpenRequest): Promise<Session> {
    await this.adapt(session, request);
    session.attach(request.attachment);
    await session.keepGuard({});
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

  private async unloadIfUnused(session: Session): Promise<void> {
    const { sessionId, audience } = session;
    await this.opening
      .run(sessionId, async () => {
        if (this.sessions.get(sessionId) !== session) return;
        if (audience.size === 0 && (await session.unloadWaiting()))
          this.resting.set(sessionId, session.currentSettings);
        else await session.unload();
        if (audience.size === 0 && !session.isLoaded) this.dropLive(sessionId);
      })
      .catch(unreachableStore);
  }

  /** Takes a turn up that was at rest; its questions may be answered from then on. */
  private async goOn(session: Session): Promise<void> {
    this.resting.delete(session.sessionId);
    await (await session.load()).continueWork();
  }

  private dropLive(sessionId: string): void {
    this.sessions.delete(sessionId);
    this.activeAt.delete(sessionId);
  }

  /** Throws StoreError. */
  private async removeStored(session: Session): Promise<void> {
    const { configDir } = session.currentSettings;
    await this.options.home(configDir).store.remove(session.sessionId, this.options.owner);
  }

  private noteActivity(published: PublishedEvent): void {
    if (this.options.sessionIdleSeconds > 0)
      this.activeAt.set(published.sessionId, this.options.clock.now().getTime());
    if (stops.has(published.type)) this.unloadWhenAlone(published);
  }

  private unloadWhenAlone({ sessionId }: { readonly sessionId: string }): void {
    const session = this.sessions.get(sessionId);
    if (session && session.audience.size === 0) setImmediate(() => void this.unloadIfUnused(session));
  }

  private broadcastUpdated(session: Session): void {
    const state = session.loadedState;
    if (!state || !this.sessions.has(session.sessionId)) return;
    this.broadcast({ type: 'session.updated', sessionId: session.sessionId, metadata: metadataOf(state) });
  }

  private async announce(type: 'session.created', session: Session): Promise<void> {
    this.broadcast({ type, sessionId: session.sessionId, metadata: metadataOf(await session.state()) });
  }

  private broadcast(lifecycle: Lifecycle): void {
    for (const listener of this.listeners) listener(lifecycle);
  }

  private async unloadIdle(): Promise<void> {
    const limit = this.options.clock.now().getTime() - this.options.sessionIdleSeconds * 1000;
    for (const [sessionId, at] of this.activeAt) {
      const session = this.sessions.get(sessionId);
      if (!session || at > limit || session.isRunning) continue;
      this.activeAt.delete(sessionId);
      await this.unloadIfUnused(session);
    }
  }
}

/** After these a session may have nothing more to do. */
const stops: ReadonlySet<string> = new Set([
  'session.idle',
  'external_tool.requested',
  'permission.requested',
  'user_input.requested',
  'exit_plan_mode.requested',
]);

/** Of a session that could not be closed: another process has it, or its store is gone. */
const emptyClosing = { userTurns: -1, inbox: [] };

/** No caller waits for a session to be unloaded: one whose store cannot be reached stays until the next occasion. */
const unreachableStore = (): undefined => undefined;

function newContext({ workingDirectory }: ResumeChanges): SessionContext | undefined {
  if (workingDirectory === undefined) return undefined;
  return directoryContext(workingDirectory);
}
