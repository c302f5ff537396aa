import type { EventData, SessionEvent } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import type { LoopLimits, ModelPlan } from '../loop/context.js';
import { type Decision, outcomeOf } from '../permissions/decision.js';
import {
  type LogRecord,
  type Owner,
  type SessionContext,
  type SessionStore,
  StoreError,
} from '../store/session-store.js';
import type { ExternalAnswer } from '../tools/external.js';
import type { SessionShells } from '../tools/shell/shells.js';
import { UserCommands } from '../tools/shell/user-commands.js';
import type { Tool, ToolSurroundings } from '../tools/tool.js';
import { Workspace } from '../workspace/workspace.js';
import { type Attachment, Audience } from './audience.js';
import { Conversation, type PromptExtras } from './conversation.js';
import { type Draft, type EphemeralDraft, SessionLog } from './log.js';
import { LogReaders } from './log-readers.js';
import { Metrics } from './metrics.js';
import { Planner } from './planner.js';
import type { Answers, QuestionRef } from './questions.js';
import { ClientRequests } from './requests.js';
import { type Resumption, resumeDrafts } from './resumption.js';
import type { ModelAccess, SessionSettings } from './settings.js';
import type { Prompt, SessionState } from './shape.js';
import type { Told } from './told.js';
import { toolSurroundings } from './tool-surroundings.js';
import { farewell, greeting } from './words.js';

/** What a session is given by the runtime it lives in. */
export interface SessionSurroundings {
  readonly store: SessionStore;
  readonly clock: Clock;
  readonly owner: Owner;
  readonly limits: LoopLimits;
  readonly version: string;
  readonly builtinTools: (attachments: Audience) => readonly Tool[];
  readonly shells: SessionShells;
  /** Where the session keeps its files. */
  readonly workspacePath: string;
  /** Hears what all clients hear, before them. */
  onTold(told: Told): void;
  /** The events of one commit have all been told. */
  onToldAll(session: Session): void;
}

/** One conversation, whoever is attached to it. Its log may be in memory or not: whoever needs it, loads it. */
export class Session {
  readonly audience = new Audience();
  readonly metrics = new Metrics();
  readonly workspace: Workspace;
  readonly readers = new LogReaders();
  readonly userCommands = new UserCommands();
  private loading: Promise<Conversation> | undefined;
  private conversation: Conversation | undefined;
  private readonly planner: Planner;

  constructor(
    readonly sessionId: string,
    private readonly surroundings: SessionSurroundings,
    settings: SessionSettings,
    access: ModelAccess,
  ) {
    this.planner = new Planner(this.audience, surroundings, settings, access);
    this.workspace = new Workspace(surroundings.workspacePath);
  }

  get workspacePath(): string {
    return this.workspace.directory;
  }

  get currentSettings(): SessionSettings {
    return this.planner.settings;
  }

  /** A turn is running, be it only waiting for an answer. */
  get isRunning(): boolean {
    return this.conversation?.isRunning ?? false;
  }

  get isLoaded(): boolean {
    return this.conversation !== undefined;
  }

  /** Makes the session; false when it was there already and has been opened instead. */
  async create(context: SessionContext): Promise<boolean> {
    const log = this.newLog();
    const { clock, version, owner } = this.surroundings;
    const { clientName, provider } = this.currentSettings;
    const data = greeting(this.currentSettings, {
      sessionId: this.sessionId,
      startTime: clock.timestamp(),
      version,
      context,
    });
    const isNew = await log.create(
      owner,
      {
        note: 'settings.fixed',
        data: { clientName, hasProvider: provider !== undefined },
      },
      { type: 'session.start', data },
    );
    this.hold(new Conversation(log, this.host()));
    return isNew;
  }

  /** The session's log in memory; it is read, and the session claimed, when it is not there. */
  load(options: { readonly force?: boolean } = {}): Promise<Conversation> {
    this.loading ??= this.openConversation(options).catch((error: unknown) => {
      this.loading = undefined;
      throw error;
    });
    return this.loading;
  }

  /** Replaces what this client brings; throws ToolClash. */
  attach(attachment: Attachment): void {
    this.change(() => this.audience.attach(attachment));
  }

  /** What the client brought goes with it, before the next model call. */
  detach(clientId: string): boolean {
    return this.change(() => this.audience.detach(clientId));
  }

  /** Takes what a client that creates or resumes wants changed. */
  configure(settings: SessionSettings, access: ModelAccess): void {
    this.planner.configure(settings, access);
  }

  async send(prompt: Prompt, extras: PromptExtras): Promise<void> {
    await this.onLog((conversation) => conversation.send(prompt, extras));
  }

  async abort(reason: EventData<'abort'>['reason']): Promise<void> {
    await this.conversation?.abort(reason);
  }

  async suspend(): Promise<void> {
    await this.conversation?.suspend();
  }

  /** False when the call was answered before, or is not known. */
  async answerToolCall(requestId: string, answer: ExternalAnswer): Promise<boolean> {
    return this.answer({ kind: 'external_tool', requestId }, answer);
  }

  /** False when the question was answered before; throws UnknownDecision and leaves it open. */
  async answerPermission(requestId: string, decision: Decision): Promise<boolean> {
    outcomeOf(decision);
    return this.answer({ kind: 'permission', requestId }, decision);
  }

  /** Slash commands and forms: requests of one client to the others. */
  async requests(): Promise<ClientRequests> {
    const { log, questions } = await this.load();
    return new ClientRequests({ log, questions, clock: this.surroundings.clock });
  }

  /** False when nobody waits for such an answer any more. */
  async answer<K extends keyof Answers>(question: QuestionRef<K>, answer: Answers[K]): Promise<boolean> {
    return (await this.load()).questions.answer(question, answer);
  }

  setApproveAll(isOn: boolean): void {
    this.planner.approvesAll = isOn;
  }

  /** Writes events and waits until everybody has been told. */
  record(...drafts: readonly Draft[]): Promise<readonly SessionEvent[]> {
    return this.onLog(({ log }) => {
      const events = log.append(...drafts);
      return log.told().then(() => events);
    });
  }

  /** Tells without storing; resolves with the event's id once everybody has been told. */
  async emit(draft: EphemeralDraft): Promise<string> {
    const { log } = await this.load();
    const id = log.emit(draft);
    return log.told().then(() => id);
  }

  /** What the stored log adds up to. */
  async state(): Promise<SessionState> {
    return (await this.load()).log.state;
  }

  /** Stored records after a seq. */
  read(after = 0): AsyncIterable<readonly LogRecord[]> {
    return this.surroundings.store.read(this.sessionId, after);
  }

  /** Prompts that no turn has taken up. */
  async waitingPrompts(): Promise<readonly Prompt[]> {
    return (await this.load()).inbox.prompts;
  }

  /** Takes prompts back that no turn has taken up. */
  async withdraw(which: (prompt: Prompt) => boolean): Promise<readonly Prompt[]> {
    const { inbox, log } = await this.load();
    const gone = await inbox.withdraw(which);
    if (gone.length > 0) log.emit({ type: 'pending_messages.modified', data: {} });
    return gone;
  }

  /** What tools, and people who run commands, find around them. */
  async toolSurroundings(): Promise<ToolSurroundings> {
    return this.surroundingsIn(await this.state());
  }

  /** What the next model call would go by. */
  async plan(): Promise<ModelPlan> {
    return this.planner.plan(await this.state());
  }

  /** The state, if it is in memory. */
  get loadedState(): SessionState | undefined {
    return this.conversation?.log.state;
  }

  /** Writes that a client is back, and what it wants otherwise. */
  async sayResumed(how: Resumption): Promise<void> {
    const { log } = await this.load();
    const now = { time: this.surroundings.clock.timestamp(), model: this.planner.model(log.state) };
    if (this.currentSettings.provider && !log.state.fixed.hasProvider)
      log.append({ note: 'settings.fixed', data: { hasProvider: true } });
    const tools = { type: 'session.tools_updated' as const, data: { model: now.model } };
    log.append(tools, ...resumeDrafts(log.state, how, now));
    await log.stored();
  }

  /**
   * A client comes back to a session that is still in memory. True when its turn runs on.
   * Without `continuePendingWork`, a call whose tool the client declares anew is closed: its old handler is gone.
   */
  async settlePending(how: {
    readonly attachment: Attachment;
    readonly continuePendingWork: boolean;
  }): Promise<boolean> {
    const { conversation } = this;
    if (!conversation?.isRunning) return false;
    if (how.continuePendingWork) return true;
    const declared = new Set(how.attachment.tools.map((tool) => tool.name));
    const isSuperseded = conversation.log.state.questions.some(
      (question) => question.kind === 'external_tool' && declared.has(question.event.toolName),
    );
    if (isSuperseded) await conversation.supersede();
    return !isSuperseded;
  }

  /** Ends the session in this process: says goodbye, folds its log, lets it go. What runs stays as pending work. */
  async close(): Promise<SessionState> {
    const conversation = await this.load();
    await conversation.halt('close');
    const { log } = conversation;
    log.append({
      type: 'session.shutdown',
      data: farewell(log.state, this.metrics, this.planner.model(log.state)),
    });
    await log.stored();
    conversation.keepSnapshot(closingSnapshotBytes);
    await log.told();
    await this.letGo(conversation);
    return log.state;
  }

  /** The process ends: an idle session is closed, a working one is left as pending work. */
  async shutDown(): Promise<void> {
    const { conversation } = this;
    if (!conversation) return;
    if (!conversation.isRunning) {
      await this.close();
      return;
    }
    await conversation.halt('close');
    await this.letGo(conversation);
  }

  /** Frees memory, never data: the next who needs the session loads it again. */
  async unload(): Promise<void> {
    const { conversation } = this;
    if (!conversation || conversation.isRunning) return;
    conversation.keepSnapshot(closingSnapshotBytes);
    await conversation.log.stored();
    await this.letGo(conversation);
  }

  /** Forgets the copy in memory without a word: another process has the session. */
  drop(): void {
    this.conversation = undefined;
    this.loading = undefined;
    void this.surroundings.shells.close();
  }

  /** Makes the session's own directory, where it has one. */
  makeWorkspace(): void {
    if (this.currentSettings.hasWorkspace) this.workspace.make();
  }

  /** Works on the log; if another process has taken the session since, on what the log is now. */
  private async onLog<T>(work: (conversation: Conversation) => Promise<T>): Promise<T> {
    const conversation = await this.load();
    return work(conversation).catch(async (error: unknown) => {
      if (!(error instanceof StoreError) || error.kind !== 'stale_owner') throw error;
      if (this.conversation === conversation) this.drop();
      return work(await this.load());
    });
  }

  private async letGo(conversation: Conversation): Promise<void> {
    if (this.conversation !== conversation) return;
    this.drop();
    await Promise.all([conversation.log.release(), this.surroundings.shells.close()]);
  }

  private async openConversation(options: { readonly force?: boolean }): Promise<Conversation> {
    const log = this.newLog();
    await log.open(this.surroundings.owner, options);
    return this.hold(new Conversation(log, this.host()));
  }

  private hold(conversation: Conversation): Conversation {
    this.conversation = conversation;
    this.loading = Promise.resolve(conversation);
    return conversation;
  }

  private newLog(): SessionLog {
    const { store, clock, onTold, onToldAll } = this.surroundings;
    return new SessionLog(this.sessionId, {
      store,
      clock,
      tell: (told) => {
        onTold(told);
        this.audience.tell(told);
        if (told.seq === undefined && this.readers.isActive)
          this.readers.heardEphemeral(told, this.loadedState?.seq ?? 0);
      },
      toldAll: () => {
        onToldAll(this);
        this.readers.wake();
      },
    });
  }

  /** Tells the others what came or went with a client. */
  private change<T>(work: () => T): T {
    const before = { commands: namesOf(this.audience), showsForms: this.audience.showsForms };
    const result = work();
    this.planner.audienceChanged();
    const log = this.conversation?.log;
    if (!log) return result;
    const { audience } = this;
    if (namesOf(audience) !== before.commands) {
      log.emit({ type: 'commands.changed', data: { commands: audience.commands() } });
    }
    if (audience.showsForms !== before.showsForms) {
      log.emit({ type: 'capabilities.changed', data: { ui: { elicitation: audience.showsForms } } });
    }
    return result;
  }

  private surroundingsIn(state: SessionState): ToolSurroundings {
    const { surroundings, planner, workspacePath: sessionDirectory } = this;
    return toolSurroundings({
      state,
      settings: planner.settings,
      sessionDirectory,
      shells: surroundings.shells,
    });
  }

  private host() {
    const { sessionId, surroundings, metrics, planner, audience } = this;
    return {
      sessionId,
      clock: surroundings.clock,
      limits: surroundings.limits,
      metrics,
      planner,
      audience,
      toolSurroundings: (state: SessionState) => this.surroundingsIn(state),
      isWanted: (eventType: string) => this.readers.isWanted(eventType),
      lost: (_error: StoreError) => this.drop(),
    };
  }
}

function namesOf(audience: Audience): string {
  return JSON.stringify(audience.commands());
}

/** A session that is closed keeps its log folded unless it is very short. */
const closingSnapshotBytes = 16 * 1024;
