import type { Price } from '@groundcrew/models';
import { StoreError } from '@groundcrew/store';
import { errorData } from '../agents/failure.js';
import { type Receipt, RootAgent } from '../agents/root-agent.js';
import { isLeftAsItIs, isLoss, type Run, type TurnOutcome } from '../agents/turn-outcome.js';
import type { Clock } from '../clock.js';
import { Compactor, type CompactorParts } from '../compaction/compactor.js';
import type { SummaryCall } from '../compaction/summary-call.js';
import { Gate } from '../gate/gate.js';
import type { GatePermissions } from '../gate/permission-desk.js';
import { reportError } from '../hooks/error-hooks.js';
import { HookGuard } from '../hooks/guard.js';
import { type HookSource, Hooks } from '../hooks/hooks.js';
import { type AbortReason, Interruption, TurnAborted } from '../interruption.js';
import { AgentLog } from '../log/agent-log.js';
import { hasTurnWork, hasWork } from '../log/fold.js';
import type { SessionLog } from '../log/session-log.js';
import { agentOf, type OpenCall, type Prompt } from '../log/state.js';
import { type SamplingParts, sample } from '../mcp/sampling.js';
import { ModelCalls } from '../model-call/model-call.js';
import type { PermissionRequest } from '../permissions/question.js';
import { CallQuestions } from '../questions/call-questions.js';
import { ClientRequests } from '../questions/client-requests.js';
import { ModelSwitch } from '../questions/model-switch.js';
import { Offers } from '../questions/offers.js';
import { type Answers, type QuestionRef, Questions } from '../questions/questions.js';
import { type Wait, Waits } from '../questions/waits.js';
import type { ToolEnvironment } from '../tools/tool.js';
import type { AgentContext, ConfigChange, ReceivedPrompt, TurnLimits } from '../turn/context.js';
import { HistoryMemory } from '../turn/history-memory.js';
import { Interaction, type PromptExtras } from '../turn/interaction.js';
import type { Planner } from '../turn/planner.js';
import { summaryCall } from '../turn/summary-call.js';
import type { Audience } from './audience.js';
import { Inbox } from './inbox.js';
import { Receipts, silentReceipt } from './receipts.js';

/** What a conversation needs of the session around it. */
export interface ConversationHost {
  readonly sessionId: string;
  readonly clock: Clock;
  readonly limits: TurnLimits;
  readonly planner: Planner;
  readonly permissions: GatePermissions;
  readonly audience: Audience;
  /** What a model costs, if it is known. */
  priceOf(model: string): Promise<Price | undefined>;
  toolEnvironment(): ToolEnvironment;
  /** Those whose hooks are called, in the order in which they came. */
  hookSources(): readonly HookSource[];
  /** A warning about hooks files that cannot be read; once. */
  hookWarning(): string | undefined;
  configure(change: ConfigChange): Promise<void>;
  writeTranscript(): Promise<string>;
  /** When the conversation is summarised, and with what beside it. */
  readonly compaction: Omit<CompactorParts, 'log' | 'models'>;
  /** Some client registered interest in events of this kind. */
  isWanted(eventType: string): boolean;
  /** A call waits for the session's hooks: without a client the session may be unloaded. */
  held(): void;
  /** Another process has the session now, or its store is gone: this copy is void. */
  lost(error: StoreError): void;
}

/** A session's log in memory, with the one agent loop that works on it. */
export class Conversation {
  readonly inbox: Inbox;
  readonly questions: Questions;
  /** Open questions that clients are asked by requests. */
  readonly offers: Offers;
  /** Slash commands, forms and other requests to clients that belong to no turn. */
  readonly requests: ClientRequests;
  private readonly receipts: Receipts;
  private readonly waits: Waits;
  private readonly root: RootAgent;
  private readonly context: (interaction: Interaction) => AgentContext;
  /** When the prompts that wait now began to. */
  private queuedSince: string | undefined;
  private run: Run | undefined;
  private hasStarted = false;
  /** Holds calls back while the session's hooks are away. */
  guard!: HookGuard;
  /** Summarises the conversation when its window fills. */
  compactor!: Compactor;

  constructor(
    readonly log: SessionLog,
    private readonly host: ConversationHost,
  ) {
    const { clock, planner, limits } = host;
    this.inbox = new Inbox(log, limits.queuedPrompts);
    this.receipts = new Receipts(log);
    this.waits = new Waits(clock);
    this.questions = new Questions(log, this.waits);
    this.requests = new ClientRequests({ log, questions: this.questions, clock });
    this.offers = new Offers(log);
    this.context = this.rootContext();
    this.root = new RootAgent({
      log,
      newId: () => clock.newId(),
      context: this.context,
      trace: () => planner.settings.trace,
      storeFailed: (error) => this.reportStoreFailure(error),
    });
  }

  /** Asks permission for what is no call of the model's; resolves with why not, or with undefined. */
  permit(request: PermissionRequest, signal: AbortSignal): Promise<string | undefined> {
    const interaction = new Interaction(this.host.clock.newId(), { trace: {} });
    return this.context(interaction).gate.permit(request, signal);
  }

  /** An MCP server asks the session's model. */
  sample(
    serverName: string,
    params: Parameters<typeof sample>[1],
    signal: AbortSignal,
  ): ReturnType<typeof sample> {
    const interaction = new Interaction(this.host.clock.newId(), { trace: {} });
    const { gate, models, planner, log } = this.context(interaction);
    const parts: SamplingParts = {
      models,
      plan: () => planner.plan(),
      permit: (request, asked) => gate.permit(request, asked),
      append: (...drafts) => void log.append(...drafts),
    };
    return sample(serverName, params, parts, signal);
  }

  /** A turn is running, be it only waiting for an answer. */
  get isRunning(): boolean {
    return this.run !== undefined;
  }

  /** What it waits for now, prompts for their turn included. */
  get waitingOn(): readonly Wait[] {
    const prompts = this.inbox.prompts.length;
    const since = this.queuedSince ?? this.log.state.modifiedAt;
    return [...this.waits.list(), ...(prompts > 0 ? [{ kind: 'queue' as const, prompts, since }] : [])];
  }

  /** The turn does nothing but wait for an answer, and all that it needs in order to go on is in the log. */
  get onlyWaits(): boolean {
    const { calls, questions } = agentOf(this.log.state);
    const hasSecrets = this.inbox.hasSecrets || this.run?.interaction?.options.requestHeaders !== undefined;
    const isAsked = ({ toolCallId }: { readonly toolCallId: string }) =>
      questions.some((each) => each.toolCallId === toolCallId && this.questions.isWaiting(each.requestId));
    const waits = (call: OpenCall) => isAsked(call) || this.guard.isHolding(call.toolCallId);
    const mayRest = this.isRunning && !hasSecrets && !this.requests.hasCallers;
    return mayRest && calls.length > 0 && calls.every(waits);
  }

  /** Resolves when the prompt is safe; the turn runs on its own and ends in `session.idle`. */
  async send(prompt: Prompt, extras: PromptExtras): Promise<void> {
    await this.receipts.once(prompt, () => this.accept({ prompt, extras }));
  }

  /** False when no caller waits for such an answer any more; what was asked before the log was loaded may be answered too. */
  answer<K extends keyof Answers>(question: QuestionRef<K>, answer: Answers[K]): Promise<boolean> {
    if (question.kind === 'elicitation' || question.kind === 'sampling') this.requests.reopen();
    return this.questions.answer(question, answer);
  }

  /** Takes prompts back that no turn has taken up. */
  async withdraw(which: (prompt: Prompt) => boolean): Promise<readonly Prompt[]> {
    const gone = await this.inbox.withdraw(which);
    if (gone.length > 0) this.log.emit({ type: 'pending_messages.modified', data: {} });
    return gone;
  }

  private async accept(received: ReceivedPrompt): Promise<void> {
    if (!this.run && this.inbox.isEmpty && !received.prompt.isCommand) return this.start(received);
    if (this.inbox.prompts.length === 0) this.queuedSince = this.host.clock.timestamp();
    await this.inbox.admit(received);
    this.log.emit({ type: 'pending_messages.modified', data: {} });
    if (!this.run) void this.start(undefined);
  }

  /** Ends the running turn and its tools; prompts that wait are kept and start next. */
  async abort(reason: AbortReason): Promise<void> {
    await this.interrupt(new TurnAborted(reason));
  }

  /** Stops the loop and leaves what it worked on as pending work. */
  async halt({ hasUserLeft = false } = {}): Promise<void> {
    this.inbox.pause();
    this.requests.close();
    const run = this.run;
    run?.controller.abort(new Interruption('close', 'The session was closed'));
    this.root.stopEnding();
    await run?.done;
    await this.compactor.close();
    if (hasUserLeft) await this.root.userLeft(run?.interaction);
  }

  /** How the conversation is summarised by a client's wish. */
  async summaryCall(signal: AbortSignal): Promise<SummaryCall> {
    const { trace } = this.host.planner.settings;
    const context = this.context(new Interaction(this.host.clock.newId(), { trace }));
    return summaryCall(context, await context.planner.freshPlan(signal));
  }

  /** Cancels what waits for users, ends the turn and starts nothing. */
  async suspend(): Promise<void> {
    this.inbox.pause();
    await this.interrupt(new Interruption('suspend', 'Session suspended'));
    await this.run?.done;
    this.inbox.resume();
  }

  /** A turn whose session is another process's by now is over, be it only waiting for an answer. */
  storeFailed(error: unknown): void {
    if (error instanceof StoreError && isLoss(error)) this.run?.controller.abort(error);
  }

  /** Closes the running turn as interrupted: whoever was asked last is no longer there. */
  async supersede(): Promise<void> {
    await this.interrupt(new Interruption('superseded', 'Interrupted by a client that resumed the session'));
  }

  /** Goes on with what was left: an open turn, prompts that wait, and open questions, which may be answered from then on. */
  async continueWork(): Promise<void> {
    this.requests.reopen();
    if (!this.run && hasTurnWork(this.log.state)) await this.start(undefined);
  }

  /** Closes what a process before this one had left; prompts that wait become messages for the next turn to answer. */
  async closeInterrupted(): Promise<void> {
    if (!hasWork(this.log.state)) return;
    this.requests.closeLeft();
    this.root.closeInterrupted();
    for (let prompt = await this.inbox.takeNext(); prompt; prompt = await this.inbox.takeNext())
      await this.root.deliverOnly(prompt);
    await this.log.stored();
  }

  private async interrupt(interruption: Interruption): Promise<void> {
    const run = this.run;
    if (!run) return;
    const { turnEnd } = this.root;
    run.controller.abort(interruption);
    this.root.stopEnding();
    await turnEnd;
  }

  /** Resolves when the first prompt is stored; without a prompt, at once. */
  private start(first: ReceivedPrompt | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const run: Run = {
        controller: new AbortController(),
        isSafe: !first,
        done: Promise.resolve().then(() => this.work(run, first, { resolve, reject })),
      };
      this.run = run;
    });
  }

  private async work(run: Run, first: ReceivedPrompt | undefined, receipt: Receipt): Promise<void> {
    if (!first) receipt.resolve();
    let outcome = first
      ? await this.root.answer(run, first, { delivery: 'idle', receipt })
      : await this.root.continue(run);
    while (outcome !== 'stopped' && outcome !== 'held' && !this.inbox.isEmpty) {
      const received = await this.inbox.takeNext();
      if (!received) continue;
      run.controller = new AbortController();
      outcome = received.prompt.isCommand
        ? await this.command(run, received.prompt)
        : await this.root.answer(run, received, { delivery: 'queued', receipt: silentReceipt });
    }
    this.run = undefined;
    if (outcome === 'stopped') return;
    this.emitIdle(outcome === 'aborted');
    this.keepSnapshot();
  }

  /** Offers a queued command to the clients that want such; with none it is dropped. */
  private async command(run: Run, { messageId, text }: Prompt): Promise<TurnOutcome> {
    const { requests, host } = this;
    const { signal } = run.controller;
    const wanted = host.isWanted('command.queued');
    const { stopProcessingQueue } = wanted
      ? await requests.offerCommand(text, signal).catch(() => ({ stopProcessingQueue: false }))
      : { stopProcessingQueue: false };
    if (isLeftAsItIs(signal)) return 'stopped';
    await this.root.record({ note: 'prompt.withdrawn', data: { messageId } });
    return stopProcessingQueue ? 'held' : 'answered';
  }

  /** Nothing can be written: clients are told all the same, and nothing that they were told before is lost. */
  private reportStoreFailure(error: unknown): TurnOutcome {
    const isLost = error instanceof StoreError && isLoss(error);
    const isUnreported = isLost && this.run?.isSafe === false;
    if (!isUnreported) this.log.emit({ type: 'session.error', ephemeral: true, data: errorData(error) });
    if (!isLost) return 'answered';
    if (!isUnreported) this.emitIdle(true);
    this.host.lost(error);
    return 'stopped';
  }

  private emitIdle(aborted: boolean): void {
    const data = aborted ? { aborted } : {};
    this.log.emit({ type: 'assistant.idle', data });
    this.log.emit({ type: 'session.idle', data });
  }

  /** Folding the log again must stay cheap however long it grows. */
  keepSnapshot(threshold = snapshotBytes): void {
    const { latest, unfolded } = this.log;
    if (unfolded < Math.max(threshold, agentOf(latest).historySize) || this.run) return;
    this.log.append({ note: 'snapshot', data: { state: latest } });
  }

  private takeStart(): boolean {
    const isFirst = !this.hasStarted;
    this.hasStarted = true;
    return isFirst;
  }

  private modelCalls(log: AgentLog, hooks: Hooks): ModelCalls {
    const { host, questions, waits } = this;
    return new ModelCalls({
      ...{ log, clock: host.clock, questions, waits },
      priceOf: host.priceOf,
      failed: (error, recoverable, signal) =>
        reportError(hooks, { error: error.message, errorContext: 'model_call', recoverable }, signal),
    });
  }

  private rootContext(): (interaction: Interaction) => AgentContext {
    const { host, inbox, questions, offers, waits } = this;
    const { clock, audience, planner, permissions } = host;
    const log = new AgentLog(this.log);
    const parts = { log, clock, questions, waits };
    const hooks = new Hooks({ ...parts, sources: () => host.hookSources() });
    const held = () => void this.log.stored().then(() => host.held(), ignored);
    this.guard = new HookGuard({ log, waits, held, hasClient: () => audience.hasHooks });
    const models = this.modelCalls(log, hooks);
    this.compactor = new Compactor({ log, models, ...host.compaction });
    const fixed = {
      log,
      inbox,
      hooks,
      gate: new Gate({
        ...parts,
        offers,
        callQuestions: new CallQuestions({
          log: this.log,
          questions,
          clock,
          clients: (kind) => audience.answerersOf(kind),
        }),
        hooks,
        guard: this.guard,
        permissions,
        toolEnvironment: () => host.toolEnvironment(),
      }),
      planner: planner.forAgent(() => this.log.latest, waits),
      models,
      compactor: this.compactor,
      modelSwitch: new ModelSwitch({
        clients: () => audience.modelSwitchers(),
        clock,
        questions,
        offers,
        log: this.log,
      }),
      memory: new HistoryMemory(),
    };
    return (interaction) => ({
      ...fixed,
      interaction,
      session: {
        sessionId: host.sessionId,
        clientName: planner.settings.clientName,
        clock,
        limits: host.limits,
        ruleWarning: () => permissions.warning(),
        hookWarning: () => host.hookWarning(),
        takeStart: () => this.takeStart(),
        configure: (change) => host.configure(change),
        writeTranscript: () => host.writeTranscript(),
      },
    });
  }
}

const snapshotBytes = 256 * 1024;

/** Callers that wait for a commit that failed learn of it. */
const ignored = (): undefined => undefined;
