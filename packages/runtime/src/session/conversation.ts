import type { Price } from '@groundcrew/models';
import type { EventData } from '@groundcrew/protocol';
import type { Clock } from '../clock.js';
import { CallMemory } from '../loop/call-memory.js';
import type { LoopContext, LoopLimits, MakeRoom } from '../loop/context.js';
import { deliver } from '../loop/deliver.js';
import { Interaction, type RequestHeaders, type TraceContext } from '../loop/interaction.js';
import { runUntilAnswered } from '../loop/loop.js';
import { continueTurn } from '../loop/recover.js';
import { LimitReached } from '../loop/turn.js';
import { StoreError } from '../store/session-store.js';
import type { ToolSurroundings } from '../tools/tool.js';
import type { Audience } from './audience.js';
import { cancellation, isLeftAsItIs, isLoss, type TurnOutcome, timeLimitText } from './endings.js';
import { errorData } from './failure.js';
import { Inbox, QueueFull } from './inbox.js';
import { Interruption } from './interruption.js';
import type { Draft, SessionLog } from './log.js';
import { ModelSwitch } from './model-switch.js';
import type { Planner } from './planner.js';
import { Questions } from './questions.js';
import { type Receipt, Receipts, silentReceipt } from './receipts.js';
import { ClientRequests } from './requests.js';
import type { Run } from './run.js';
import type { SessionPermissions } from './session-permissions.js';
import type { Prompt, SessionState } from './shape.js';
import { hasWork } from './state.js';
import { UserInput } from './user-input.js';
import { type Wait, Waits } from './waits.js';

/** What a conversation needs of the session around it. */
export interface ConversationHost {
  readonly sessionId: string;
  readonly clock: Clock;
  readonly limits: LoopLimits;
  readonly makeRoom?: MakeRoom;
  readonly planner: Planner;
  readonly permissions: Pick<SessionPermissions, 'policy' | 'prohibitions' | 'trouble'>;
  readonly audience: Audience;
  /** What a model costs, if anybody knows. */
  priceOf(model: string): Promise<Price | undefined>;
  toolSurroundings(state: SessionState): ToolSurroundings;
  /** Some client registered interest in events of this kind. */
  isWanted(eventType: string): boolean;
  /** Another process has the session now, or its store is gone: this copy is void. */
  lost(error: StoreError): void;
}

/** What belongs to a prompt and may not be stored. */
export interface PromptExtras {
  readonly requestHeaders?: RequestHeaders;
  readonly trace?: TraceContext;
}

/** A session's log in memory, with the one loop that works on it. */
export class Conversation {
  readonly inbox: Inbox;
  readonly questions: Questions;
  readonly userInput: UserInput;
  private readonly receipts: Receipts;
  private readonly waits: Waits;
  private readonly memory = new CallMemory();
  /** When the prompts that wait now began to. */
  private queuedSince: string | undefined;
  private run: Run | undefined;
  private readonly extras = new Map<string, PromptExtras>();

  constructor(
    readonly log: SessionLog,
    private readonly host: ConversationHost,
  ) {
    this.inbox = new Inbox(log, log.state.inbox);
    this.receipts = new Receipts(log);
    this.waits = new Waits(host.clock);
    this.questions = new Questions(log, this.waits);
    this.userInput = new UserInput({ audience: host.audience, questions: this.questions, log });
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

  /** The turn does nothing but wait for people, and all that it needs in order to go on is in the log. */
  get onlyWaits(): boolean {
    const { calls, questions } = this.log.state;
    const waiting = this.inbox.prompts.map(({ messageId }) => this.extras.get(messageId));
    const hasSecrets = [...waiting, this.run?.interaction?.options].some((each) => each?.requestHeaders);
    const isAsked = ({ toolCallId }: { readonly toolCallId: string }) =>
      questions.some((each) => each.toolCallId === toolCallId && this.questions.isWaiting(each.requestId));
    return this.isRunning && !hasSecrets && calls.length > 0 && calls.every(isAsked);
  }

  /** Resolves when the prompt is safe; the turn runs on its own and ends in `session.idle`. */
  async send(prompt: Prompt, extras: PromptExtras): Promise<void> {
    await this.receipts.once(prompt, () => this.accept(prompt, extras));
  }

  private async accept(prompt: Prompt, extras: PromptExtras): Promise<void> {
    this.extras.set(prompt.messageId, extras);
    if (!this.run && this.inbox.isEmpty && !prompt.isCommand) return this.start(prompt);
    const { queuedPrompts } = this.host.limits;
    if (this.inbox.prompts.length >= queuedPrompts) {
      throw new QueueFull(
        `${queuedPrompts} prompts are waiting already; send again when some of them have been answered`,
      );
    }
    if (this.inbox.prompts.length === 0) this.queuedSince = this.host.clock.timestamp();
    await this.inbox.admit(prompt);
    this.log.emit({ type: 'pending_messages.modified', data: {} });
    if (!this.run) void this.start(undefined);
  }

  /** Ends the running turn and its tools; prompts that wait are kept and start next. */
  async abort(reason: EventData<'abort'>['reason']): Promise<void> {
    await this.interrupt(new Interruption('abort', reason));
  }

  /** Stops the loop and leaves what it worked on as pending work. */
  async halt(): Promise<void> {
    this.inbox.pause();
    const run = this.run;
    run?.controller.abort(new Interruption('close', 'The session was closed'));
    await run?.done;
  }

  /** Cancels what waits for people, ends the turn and starts nothing. */
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
    if (!this.run && hasWork(this.log.state)) await this.start(undefined);
  }

  /** Closes what a process before this one had left; prompts that wait become messages for the next turn to answer. */
  async closeInterrupted(): Promise<void> {
    const { state } = this.log;
    if (!hasWork(state)) return;
    for (const call of state.calls)
      this.log.append({ note: 'call.interrupted', data: { toolCallId: call.toolCallId } });
    if (state.turn) this.log.append({ type: 'assistant.turn_end', data: { turnId: state.turn.turnId } });
    for (let prompt = await this.inbox.takeNext(); prompt; prompt = await this.inbox.takeNext()) {
      await deliver(prompt, 'queued', this.context(this.interactionFor(prompt)));
    }
    await this.log.stored();
  }

  private async interrupt(interruption: Interruption): Promise<void> {
    const run = this.run;
    if (!run) return;
    const turnEnded = this.turnEnd;
    run.controller.abort(interruption);
    await turnEnded;
  }

  private turnEnd: Promise<void> = Promise.resolve();

  /** Resolves when the first prompt is stored; without a prompt, at once. */
  private start(first: Prompt | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const run: Run = {
        controller: new AbortController(),
        isSafe: !first,
        done: Promise.resolve().then(() => this.work(run, first, { resolve, reject })),
      };
      this.run = run;
    });
  }

  private async work(run: Run, first: Prompt | undefined, receipt: Receipt): Promise<void> {
    let outcome = first ? await this.turn(run, first, 'idle', receipt) : await this.resumeTurn(run, receipt);
    while (outcome !== 'stopped' && outcome !== 'held' && !this.inbox.isEmpty) {
      const prompt = await this.inbox.takeNext();
      if (!prompt) continue;
      run.controller = new AbortController();
      outcome = prompt.isCommand
        ? await this.command(run, prompt)
        : await this.turn(run, prompt, 'queued', silentReceipt);
    }
    this.run = undefined;
    if (outcome === 'stopped') return;
    this.tellIdle(outcome === 'aborted');
    this.keepSnapshot();
  }

  /** A model that was chosen while a turn ran counts from the next message on. */
  private async takeChosenModel(): Promise<void> {
    const { nextModel } = this.log.state;
    if (nextModel) await this.record({ type: 'session.model_change', data: nextModel });
  }

  private turn(
    run: Run,
    prompt: Prompt,
    delivery: 'idle' | 'queued',
    receipt: Receipt,
  ): Promise<TurnOutcome> {
    const context = this.context(this.interactionFor(prompt));
    return this.attempt(run, context, async (signal) => {
      if (this.log.state.nextModel) await this.takeChosenModel();
      await deliver(prompt, delivery, context).catch((error: unknown) => {
        receipt.reject(error);
        throw error;
      });
      const accepted = this.log.stored().then(() => (run.isSafe = true));
      accepted.then(() => receipt.resolve(), receipt.reject);
      this.log.emit({ type: 'pending_messages.modified', data: {} });
      await runUntilAnswered(context, signal);
    });
  }

  /** Offers a queued command to the clients that want such; with none it is dropped. */
  private async command(run: Run, { messageId, text }: Prompt): Promise<TurnOutcome> {
    const { log, questions, host } = this;
    const requests = new ClientRequests({ log, questions, clock: host.clock });
    const { signal } = run.controller;
    const wanted = host.isWanted('command.queued');
    const { stopProcessingQueue } = wanted
      ? await requests.offerCommand(text, signal).catch(() => ({ stopProcessingQueue: false }))
      : { stopProcessingQueue: false };
    if (isLeftAsItIs(signal)) return 'stopped';
    await this.record({ note: 'prompt.withdrawn', data: { messageId } });
    return stopProcessingQueue ? 'held' : 'answered';
  }

  private resumeTurn(run: Run, receipt: Receipt): Promise<TurnOutcome> {
    receipt.resolve();
    const { turn } = this.log.state;
    if (!turn) return Promise.resolve('answered');
    const interaction = new Interaction(turn.interactionId, { trace: this.host.planner.settings.trace });
    interaction.rounds = Number(turn.turnId) + 1;
    const context = this.context(interaction);
    return this.attempt(run, context, async (signal) => {
      if (await continueTurn(context, signal)) await runUntilAnswered(context, signal);
    });
  }

  /** Runs one turn to its end, whatever that is. */
  private async attempt(
    run: Run,
    context: LoopContext,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<TurnOutcome> {
    const { controller } = run;
    run.interaction = context.interaction;
    const { turnMilliseconds } = this.host.limits;
    const timer = setTimeout(
      () => controller.abort(new Interruption('timeout', timeLimitText(turnMilliseconds))),
      turnMilliseconds,
    );
    const ending = work(controller.signal).then(
      (): TurnOutcome => 'answered',
      (error: unknown) => this.endTurn(error, controller.signal),
    );
    this.turnEnd = ending.then(() => this.log.told()).catch(() => undefined);
    const outcome = await ending;
    clearTimeout(timer);
    if (outcome !== 'stopped') await this.takeChosenModel();
    return outcome;
  }

  private async endTurn(error: unknown, signal: AbortSignal): Promise<TurnOutcome> {
    const reason: unknown = signal.aborted ? signal.reason : error;
    const failed = [error, reason].find((each) => each instanceof StoreError);
    if (failed) return this.tellFailure(failed);
    if (reason instanceof Interruption) {
      if (reason.kind === 'close') return 'stopped';
      if (reason.kind !== 'timeout') return this.recordInterruption(reason);
    }
    const failure = reason instanceof Interruption ? new LimitReached(reason.message) : reason;
    return this.record(this.turnEndDraft(), { type: 'session.error', data: errorData(failure) });
  }

  private async recordInterruption(reason: Interruption): Promise<TurnOutcome> {
    if (reason.kind === 'abort') {
      await this.record(
        { type: 'abort', data: { reason: reason.message as EventData<'abort'>['reason'] } },
        this.turnEndDraft(),
      );
      return 'aborted';
    }
    const { questions, calls } = this.log.latest;
    const cancelled = reason.kind === 'suspend' ? questions : [];
    await this.record(
      ...cancelled.map((question) => cancellation(question, reason.message)),
      ...calls.map((call): Draft => ({ note: 'call.interrupted', data: { toolCallId: call.toolCallId } })),
      this.turnEndDraft(),
    );
    return 'aborted';
  }

  private turnEndDraft(): Draft | undefined {
    const { turn } = this.log.latest;
    return turn && { type: 'assistant.turn_end', data: { turnId: turn.turnId } };
  }

  private async record(...drafts: readonly (Draft | undefined)[]): Promise<TurnOutcome> {
    this.log.append(...drafts.filter((draft) => draft !== undefined));
    return this.log.stored().then(
      (): TurnOutcome => 'answered',
      (error: unknown) => this.tellFailure(error),
    );
  }

  /** Nothing can be written: people are told all the same, and nothing that was told before is lost. */
  private tellFailure(error: unknown): TurnOutcome {
    const isLost = error instanceof StoreError && isLoss(error);
    const isUnheard = isLost && this.run?.isSafe === false;
    if (!isUnheard) this.log.emit({ type: 'session.error', ephemeral: true, data: errorData(error) });
    if (!isLost) return 'answered';
    if (!isUnheard) this.tellIdle(true);
    this.host.lost(error);
    return 'stopped';
  }

  private tellIdle(aborted: boolean): void {
    const data = aborted ? { aborted } : {};
    this.log.emit({ type: 'assistant.idle', data });
    this.log.emit({ type: 'session.idle', data });
  }

  /** Folding the log again must stay cheap however long it grows. */
  keepSnapshot(threshold = snapshotBytes): void {
    const { latest, unfolded } = this.log;
    if (unfolded < Math.max(threshold, latest.historySize) || this.run) return;
    this.log.append({ note: 'snapshot', data: { state: latest } });
  }

  private takeExtras({ messageId }: Prompt): PromptExtras {
    const extras = this.extras.get(messageId) ?? {};
    this.extras.delete(messageId);
    return extras;
  }

  private interactionFor(prompt: Prompt): Interaction {
    const { requestHeaders, trace = this.host.planner.settings.trace } = this.takeExtras(prompt);
    return new Interaction(this.host.clock.newId(), { trace, ...(requestHeaders && { requestHeaders }) });
  }

  private context(interaction: Interaction): LoopContext {
    const { host, log, inbox, questions, userInput } = this;
    return {
      sessionId: host.sessionId,
      clientName: host.planner.settings.clientName,
      get workingDirectory() {
        return log.state.context.cwd;
      },
      log,
      inbox,
      questions,
      userInput,
      clock: host.clock,
      limits: host.limits,
      waits: this.waits,
      memory: this.memory,
      interaction,
      modelSwitch: new ModelSwitch({ audience: host.audience, clock: host.clock, questions, log }),
      headersOf: (prompt) => this.takeExtras(prompt).requestHeaders,
      priceOf: (model) => host.priceOf(model),
      makeRoom: async (error, signal) =>
        (await host.makeRoom?.({ error, log, plan: host.planner.plan(log.state) }, signal)) ?? false,
      model: () => host.planner.model(log.state),
      canSeeImages: () => host.planner.canSeeImages(log.state),
      documents: () => host.planner.documents(log.state),
      noticeOfTools: () => host.planner.noticeOfTools(),
      optionWarnings: () => host.planner.optionWarnings.take(),
      oddities: () => host.planner.oddities(log.state),
      plan: () => host.planner.plan(log.state),
      policy: () => host.permissions.policy(log.state),
      prohibitions: () => host.permissions.prohibitions(log.state),
      giveUp: (error) => this.run?.controller.abort(error),
      trouble: () => host.permissions.trouble(),
      toolSurroundings: () => host.toolSurroundings(log.state),
    };
  }
}

const snapshotBytes = 256 * 1024;
