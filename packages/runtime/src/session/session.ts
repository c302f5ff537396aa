import type { EventData, SessionEvent } from '@groundcrew/protocol';
import { isInUse, type LogRecord, type StoreError } from '@groundcrew/store';
import { ClientTasks } from '../agents/client-tasks.js';
import { SessionAgents } from '../agents/session-agents.js';
import { SessionCanvases } from '../canvases/session-canvases.js';
import { SessionCommands } from '../commands/session-commands.js';
import { SessionObjective } from '../commands/session-objective.js';
import { UserShell } from '../commands/user-shell.js';
import { SessionFactories } from '../factories/session-factories.js';
import { SessionFileHosting } from '../file-hosting/session-file-hosting.js';
import { FileTracking } from '../history/file-tracking.js';
import { SessionDiff } from '../history/session-diff.js';
import { SessionRewind } from '../history/session-rewind.js';
import { changedGuard } from '../hooks/guard-points.js';
import { LogReaders } from '../log/log-readers.js';
import type { OpenQuestion } from '../log/open-question.js';
import { type Draft, type EphemeralDraft, SessionLog } from '../log/session-log.js';
import { initialState, openQuestions, type Prompt, type SessionState } from '../log/state.js';
import { readStored } from '../log/stored-records.js';
import type { ClientRequests } from '../questions/client-requests.js';
import type { Answers, QuestionRef } from '../questions/questions.js';
import type { Wait } from '../questions/waits.js';
import { SessionSchedules } from '../schedules/session-schedules.js';
import type { ModelAccess, SessionSettings } from '../settings/session-settings.js';
import { SessionSkills } from '../skills/session-skills.js';
import { checkedExtras, type PromptExtras } from '../turn/interaction.js';
import type { OptionWarnings } from '../turn/option-warnings.js';
import { SessionHistory } from '../turn/session-history.js';
import { SessionMeasures } from '../turn/session-measures.js';
import { Transcript } from '../workspace/transcript.js';
import { Workspace } from '../workspace/workspace.js';
import { type Attachment, type Audience, announceChange } from './audience.js';
import { Conversation } from './conversation.js';
import { type ConversationKeeper, type Ending, keeperOf } from './conversation-keeper.js';
import { digestOf } from './receipts.js';
import { type Resumption, resumeDrafts } from './resumption.js';
import type { ConversationHost, SessionEnvironment } from './session-environment.js';
import { greeting } from './session-events.js';
import { SessionPermissions } from './session-permissions.js';
import { SessionSandbox } from './session-sandbox.js';
import { SessionTools } from './session-tools.js';

/** What a session is given by the runtime it lives in. */
interface SessionParts extends SessionEnvironment {
  /** The events of one commit have all been published. */
  onPublishedAll(session: Session): void;
  /** A call waits for hooks whose client is away. */
  onHeld(session: Session): void;
  /** The store failed under its turn: true when it goes on from its log elsewhere, or here again. */
  leaves?(error: StoreError, log: SessionLog): boolean;
}

/** One conversation, with any number of clients. Its log may be in memory or not: a call that needs it loads it. */
export class Session {
  readonly audience: Audience;
  readonly workspace: Workspace;
  readonly hosting: SessionFileHosting;
  readonly readers = new LogReaders();
  readonly userShell = new UserShell(this);
  readonly measures = new SessionMeasures(this);
  readonly permissions: SessionPermissions;
  readonly tools: SessionTools;
  readonly sandbox: SessionSandbox;
  readonly history = new SessionHistory(this);
  readonly files: FileTracking;
  readonly rewinding: SessionRewind;
  readonly diff = new SessionDiff(this);
  readonly schedules: SessionSchedules;
  readonly skills: SessionSkills;
  readonly agents: SessionAgents;
  readonly commands = new SessionCommands(this);
  readonly canvases = new SessionCanvases(this);
  readonly factories: SessionFactories;
  readonly objective = new SessionObjective(this);
  readonly clientTasks = new ClientTasks(this);
  /** Keeps its log in memory, and unloads it. */
  readonly keeper: ConversationKeeper;
  private readonly transcript: Transcript;

  constructor(
    readonly sessionId: string,
    private readonly parts: SessionParts,
    settings: SessionSettings,
    access: ModelAccess,
  ) {
    this.audience = parts.audience;
    this.skills = new SessionSkills(this, parts);
    this.agents = new SessionAgents(this, parts.homes);
    this.hosting = new SessionFileHosting(this, parts.workspacePath);
    this.workspace = new Workspace(parts.workspacePath, parts.jobs, this.hosting);
    this.transcript = new Transcript(this);
    this.schedules = new SessionSchedules(this, parts.clock);
    this.factories = new SessionFactories(this);
    this.files = new FileTracking(this);
    this.rewinding = new SessionRewind(this, parts.store);
    this.tools = new SessionTools(this, parts, { settings, access });
    this.permissions = new SessionPermissions(this, parts);
    this.sandbox = new SessionSandbox(this, parts.shells.machine);
    this.keeper = keeperOf(this, {
      shells: parts.shells,
      openConversation: async (options) => {
        const log = this.newLog();
        await log.open(parts.owner, options);
        return new Conversation(log, this.host(log));
      },
    });
  }

  private get conversation(): Conversation | undefined {
    return this.keeper.current;
  }

  get workspacePath(): string {
    return this.workspace.directory;
  }

  /** Of options that have no effect: said at the next prompt, or when the session is resumed. */
  get optionWarnings(): OptionWarnings {
    return this.tools.planner.optionWarnings;
  }

  get currentSettings(): SessionSettings {
    return this.tools.planner.settings;
  }

  /** Whether the session keeps a directory of its own. */
  hasWorkspaceIn({ fixed }: SessionState): boolean {
    return this.currentSettings.hasWorkspace ?? fixed.hasWorkspace ?? true;
  }

  /** A turn is running, be it only waiting for an answer. */
  get isRunning(): boolean {
    return this.conversation?.isRunning ?? false;
  }

  /** What it waits for at this moment. */
  get waitingOn(): readonly Wait[] {
    return [...this.tools.mcp.waitingOn, ...(this.conversation?.waitingOn ?? [])];
  }

  get isLoaded(): boolean {
    return this.conversation !== undefined;
  }

  /** A record of its log could not be read: what lies before it can be, and nothing can be written. */
  get isReadOnly(): boolean {
    return this.keeper.isReadOnly;
  }

  /** Makes the session; false when it was there already and has been opened instead. Throws StoreError. */
  async create(): Promise<boolean> {
    const ready = this.hasWorkspaceIn(initialState) ? this.workspace.make() : Promise.resolve();
    const log = this.newLog();
    const { sessionId } = this;
    const { clock, version, owner } = this.parts;
    const guard = changedGuard({}, this.audience.guardedPoints);
    const startTime = clock.timestamp();
    const first = greeting(this.currentSettings, { guard, sessionId, version, startTime });
    try {
      const isNew = await log.create({ owner, ready }, ...first);
      this.keeper.keep(new Conversation(log, this.host(log)));
      return isNew;
    } catch (error) {
      await ready.catch(() => undefined);
      // The owner of the session may have come upon the directory that was made for it here.
      if (!isInUse(error)) await this.workspace.unmake();
      throw error;
    }
  }

  /** The session's log in memory; it is read, and the session claimed, when it is not there. */
  load(options: { readonly force?: boolean } = {}): Promise<Conversation> {
    return this.keeper.load(options);
  }

  /** Replaces what this client brings; throws ToolClash. `resumes`: the event of that says all of its tools. */
  attach(attachment: Attachment, { resumes = false } = {}): void {
    this.change(() => this.audience.attach(attachment), !resumes);
  }

  /** What the client brought goes with it, before the next model call. */
  detach(clientId: string): boolean {
    this.readers.releaseClient(clientId);
    this.clientTasks.left(clientId);
    return this.change(() => this.audience.detach(clientId), true);
  }

  /** A client no longer answers questions about another model from their events; false when there is no such handle. */
  removeDirectSwitcher(handle: string): boolean {
    return this.change(() => this.audience.removeDirectSwitcher(handle), false);
  }

  /** Takes what a client that creates or resumes wants changed. */
  configure(settings: SessionSettings, access: ModelAccess): void {
    this.tools.configure(settings, access);
  }

  /** `isIdempotent`: the sender chose the message id, and the same prompt under the same id is one prompt. */
  async send(
    prompt: Prompt,
    options: PromptExtras & { readonly isIdempotent?: boolean; readonly isFirst?: boolean },
  ): Promise<void> {
    const { isIdempotent = false, isFirst = false, ...given } = options;
    const extras = checkedExtras(given);
    if (prompt.output) (await import('../turn/output-schema.js')).requirePatterns(prompt.output.schema);
    const identified = isIdempotent ? { ...prompt, digest: digestOf(prompt) } : prompt;
    const position = isFirst ? 0 : undefined;
    await this.keeper.onLog((conversation) => conversation.send(identified, extras, position));
  }

  async abort(reason: EventData<'abort'>['reason']): Promise<void> {
    await this.conversation?.abort(reason);
  }

  async suspend(): Promise<void> {
    await this.conversation?.suspend();
  }

  /** Slash commands and forms: requests of one client to the others. */
  async requests(): Promise<ClientRequests> {
    return (await this.load()).requests;
  }

  /** False when no caller waits for such an answer any more. */
  async answer<K extends keyof Answers>(question: QuestionRef<K>, answer: Answers[K]): Promise<boolean> {
    return (await this.load()).answer(question, answer);
  }

  /** Writes events and waits until every client has received them. */
  record(...drafts: readonly Draft[]): Promise<readonly SessionEvent[]> {
    return this.keeper.onLog(({ log }) => {
      const events = log.append(...drafts);
      return log.published().then(() => events);
    });
  }

  /** Emits without storing; resolves with the event's id once every client has received it. */
  async emit(draft: EphemeralDraft): Promise<string> {
    const { log } = await this.load();
    const id = log.emit(draft);
    return log.published().then(() => id);
  }

  /** The model that answers next. */
  async model(): Promise<string> {
    return this.tools.planner.model(await this.state());
  }

  /** What the stored log adds up to. */
  async state(): Promise<SessionState> {
    return (await this.load()).log.state;
  }

  /** Stored records after a seq; of those a snapshot has folded, what is damaged is left out. */
  read(after = 0): AsyncIterable<readonly LogRecord[]> {
    return readStored(this, { store: this.parts.store, after });
  }

  async openQuestions(): Promise<readonly OpenQuestion[]> {
    return openQuestions(await this.state());
  }

  /** Prompts that no turn has taken up. */
  async waitingPrompts(): Promise<readonly Prompt[]> {
    return (await this.load()).inbox.prompts;
  }

  /** Takes prompts back that no turn has taken up. */
  async withdraw(which: (prompt: Prompt) => boolean): Promise<readonly Prompt[]> {
    return (await this.load()).withdraw(which);
  }

  /** Says more in a prompt that no turn has taken up; false when none of these waits. */
  async extendPrompt(...how: Parameters<Conversation['inbox']['extend']>): Promise<boolean> {
    return (await this.load()).inbox.extend(...how);
  }

  /** The log, if it is in memory. */
  get openLog(): SessionLog | undefined {
    return this.conversation?.log;
  }

  /** The state, if it is in memory. */
  get loadedState(): SessionState | undefined {
    return this.conversation?.log.state;
  }

  /** Remembers that the session has hooks, so that it is guarded while their client is away; or that it is not to be. */
  async keepGuard(how: { readonly waivesHooks?: boolean }): Promise<void> {
    const { fixed } = await this.state();
    const data = changedGuard(fixed, this.audience.guardedPoints, how);
    if (data) await this.record({ note: 'settings.fixed', data });
    this.conversation?.guard.changed();
  }

  /** Writes that a client is back, and what it wants otherwise; resolves when every client has received it. */
  async announceResumed(how: Resumption): Promise<void> {
    const { log } = await this.load();
    const { parts } = this;
    const { planner } = this.tools;
    if (planner.settings.hasWorkspace && log.state.fixed.hasWorkspace === false) await this.workspace.make();
    const drafts = resumeDrafts(log.state, how, { time: parts.clock.timestamp(), planner });
    log.append(...drafts, ...planner.optionWarnings.take());
    await log.published();
  }

  /** Ends the session in this process. What runs stays as pending work. */
  async close(ending?: Ending): Promise<SessionState> {
    // While there is a log yet, the session can say what it waits for.
    await this.hosting.settle();
    const state = await this.keeper.close(ending);
    await this.hosting.settle();
    return state;
  }

  private newLog(): SessionLog {
    const { store, clock, onPublished, onPublishedAll } = this.parts;
    const log: SessionLog = new SessionLog(this.sessionId, {
      store,
      clock,
      publish: (published) => {
        onPublished(published);
        this.audience.broadcast(published);
        if (published.seq === undefined && this.readers.isActive)
          this.readers.addEphemeral(published, this.loadedState?.seq ?? 0);
      },
      publishedAll: () => {
        onPublishedAll(this);
        this.hosting.changed();
        this.tools.stored(log.state);
        this.readers.wake();
      },
      // A log that was given up says nothing about the one that is worked on now.
      failed: (error) => this.openLog === log && this.conversation?.storeFailed(error),
    });
    return log;
  }

  private change<T>(work: () => T, announcesTools: boolean): T {
    const { audience, conversation } = this;
    const { planner, sources } = this.tools;
    const log = conversation?.log;
    const result = announceChange({ audience, planner, sources, announcesTools, log }, work);
    conversation?.guard.changed();
    conversation?.offers.renew();
    return result;
  }

  private host(log: SessionLog): ConversationHost {
    const { sessionId, parts, tools, audience } = this;
    return {
      sessionId,
      clock: parts.clock,
      limits: parts.limits,
      priceOf: parts.priceOf,
      observer: parts.observer,
      planner: tools.planner,
      audience,
      permissions: this.permissions.forGate(log),
      toolEnvironment: () => tools.toolEnvironmentIn(log.state),
      ...tools.hooksBy(log),
      configure: (change) => tools.reconfigure(change),
      compaction: this.history.partsFor(log),
      readObjective: () => this.objective.read(),
      writeTranscript: async () => (this.hasWorkspaceIn(log.state) ? this.transcript.update() : ''),
      agents: this.agents.host(),
      readers: this.readers,
      commands: this.commands,
      held: () => parts.onHeld(this),
      leaves: (error) => parts.leaves?.(error, log) ?? false,
      lost: () => this.keeper.discard(),
    };
  }
}
