import { StoreError } from '@groundcrew/store';
import { type AgentContexts, agentContexts } from '../agents/agent-contexts.js';
import { sampleFor } from '../agents/agent-sampling.js';
import { AppCalls } from '../agents/app-calls.js';
import { closeOrphans } from '../agents/orphaned-questions.js';
import { type Receipt, RootAgent } from '../agents/root-agent.js';
import { errorData } from '../agents/session-error.js';
import { SubAgents } from '../agents/sub-agents.js';
import { isLoss, type Run, type TurnOutcome } from '../agents/turn-outcome.js';
import { agentsOnlyWait } from '../agents/waiting-agents.js';
import { QueuedCommands } from '../commands/queued-commands.js';
import type { Compactor } from '../compaction/compactor.js';
import type { SummaryCall } from '../compaction/summary-call.js';
import { HookGuard } from '../hooks/guard.js';
import { type AbortReason, Interruption, TurnAborted } from '../interruption.js';
import { AgentLog } from '../log/agent-log.js';
import { sizeOfAgents } from '../log/ended-agents.js';
import { hasTurnWork, hasWork } from '../log/fold.js';
import type { SessionLog } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import type { sample } from '../mcp/sampling.js';
import { ClientRequests } from '../questions/client-requests.js';
import { Offers } from '../questions/offers.js';
import { type Answers, type QuestionRef, Questions } from '../questions/questions.js';
import { type Wait, Waits } from '../questions/waits.js';
import type { AgentContext, ReceivedPrompt } from '../turn/context.js';
import { checkedExtras, Interaction, type PromptExtras } from '../turn/interaction.js';
import { SessionTitle } from '../turn/session-title.js';
import { summaryCall } from '../turn/summary-call.js';
import { Inbox } from './inbox.js';
import { Receipts, silentReceipt } from './receipts.js';
import type { ConversationHost } from './session-environment.js';

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
  private readonly commands: QueuedCommands;
  private readonly title: SessionTitle;
  private readonly context: (interaction: Interaction) => AgentContext;
  /** The agents that work for the root agent. */
  readonly subAgents: SubAgents;
  /** What apps run by themselves. */
  readonly appCalls: AppCalls;
  private wakes = 0;
  /** When the prompts that wait now began to. */
  private queuedSince: string | undefined;
  private run: Run | undefined;
  private hasStarted = false;
  private isHalted = false;
  /** Holds calls back while the session's hooks are away. */
  guard!: HookGuard;
  /** Summarises the conversation when its window fills. */
  compactor!: Compactor;

  constructor(
    readonly log: SessionLog,
    private readonly host: ConversationHost,
  ) {
    const { clock, planner, limits } = host;
    this.inbox = new Inbox(log, limits.queuedPrompts, () => this.subAgents.noticesFor(undefined));
    this.receipts = new Receipts(log);
    this.waits = new Waits(clock);
    this.questions = new Questions(log, this.waits);
    this.requests = new ClientRequests({ log, questions: this.questions, clock });
    this.offers = new Offers(log);
    const contexts = this.agentContexts();
    const trace = () => planner.settings.trace;
    this.subAgents = new SubAgents({
      log,
      clock,
      waits: this.waits,
      planner,
      contexts,
      ...host.agents,
      trace,
      observer: host.observer,
      rootInteraction: () => this.run?.interaction,
      changed: () => this.wakeForNotices(),
    });
    const rootPlanner = planner.forAgent(() => log.latest, this.waits);
    this.appCalls = new AppCalls({ log, clock, contexts, planner: rootPlanner, trace });
    this.context = contexts({
      log: new AgentLog(log),
      made: (compactor) => {
        this.compactor = compactor;
      },
      planner: rootPlanner,
      inbox: this.inbox,
    });
    this.root = new RootAgent({
      log,
      newId: () => clock.newId(),
      context: this.context,
      trace,
      observer: host.observer,
      storeFailed: (error) => this.reportStoreFailure(error),
    });
    const isByModel = planner.isTitledByModel.bind(planner);
    this.title = new SessionTitle({ context: () => this.asideContext(), isByModel });
    const { commands, readers } = host;
    const record = this.root.record.bind(this.root);
    this.commands = new QueuedCommands({ commands, readers, requests: this.requests, record });
  }

  /** The gate for what is no call of the model's. */
  get gate(): AgentContext['gate'] {
    return this.asideContext().gate;
  }

  /** An MCP server asks the session's model. */
  sample(serverName: string, params: Parameters<typeof sample>[1], signal: AbortSignal) {
    return sampleFor(this.asideContext(), { serverName, params }, signal);
  }

  /** A turn is running, be it only waiting for an answer. */
  get isRunning(): boolean {
    return this.run !== undefined || this.subAgents.isBusy || this.appCalls.isBusy;
  }

  /** What it waits for now, prompts for their turn included. */
  get waitingOn(): readonly Wait[] {
    const prompts = this.inbox.prompts.length;
    const since = this.queuedSince ?? this.log.state.modifiedAt;
    const paused = this.inbox.isHeld ? { paused: true as const } : {};
    const queue = { kind: 'queue' as const, prompts, since, ...paused };
    return [...this.waits.list(), ...(prompts > 0 ? [queue] : [])];
  }

  /** The turn does nothing but wait for an answer, and all that it needs in order to go on is in the log. */
  get onlyWaits(): boolean {
    const hasSecrets = this.inbox.hasSecrets || this.run?.interaction?.options.requestHeaders !== undefined;
    const mayRest = this.isRunning && !hasSecrets && !this.requests.hasCallers && !this.appCalls.isBusy;
    return mayRest && agentsOnlyWait(this.log.latest, this);
  }

  /** Resolves when the prompt is safe; the turn runs on its own and ends in `session.idle`. */
  async send(prompt: Prompt, extras: PromptExtras, position?: number): Promise<void> {
    await this.receipts.once(prompt, () => this.accept({ prompt, extras }, position));
  }

  /** False when no caller waits for such an answer any more; what was asked before the log was loaded may be answered too. */
  answer<K extends keyof Answers>(question: QuestionRef<K>, answer: Answers[K]): Promise<boolean> {
    if (question.kind === 'elicitation' || question.kind === 'sampling') this.requests.reopen();
    return this.questions.answer(question, answer);
  }

  /** Takes prompts back that no turn has taken up. */
  withdraw(which: (prompt: Prompt) => boolean): Promise<readonly Prompt[]> {
    return this.inbox.withdraw(which);
  }

  /** Has a prompt wait at a place of the queue, and begins with it when nothing runs. */
  async enqueue({ prompt, extras }: ReceivedPrompt, position?: number): Promise<void> {
    if (this.inbox.prompts.length === 0) this.queuedSince = this.host.clock.timestamp();
    await this.inbox.admit({ prompt, extras: checkedExtras(extras) }, position);
    this.subAgents.wake();
    if (!this.run && !this.inbox.holds(prompt)) void this.start(undefined);
  }

  private async accept(received: ReceivedPrompt, position?: number): Promise<void> {
    const { prompt } = received;
    const isHeld = this.inbox.holds(prompt);
    if (!this.run && this.inbox.isEmpty && !prompt.isCommand && !isHeld) return this.start(received);
    await this.enqueue(received, position);
  }

  /** Ends the running turn and its tools; prompts that wait are kept and start next. */
  async abort(reason: AbortReason): Promise<void> {
    await this.interrupt(new TurnAborted(reason));
  }

  /** Ends the turn of the root agent; agents in the background work on. False when it answers nothing. */
  async interruptMain(): Promise<boolean> {
    const { run, root } = this;
    if (!run || !root.isAnswering) return false;
    const { turnEnd } = root;
    run.controller.abort(new TurnAborted('user_initiated'));
    root.stopEnding();
    await turnEnd;
    return true;
  }

  /** The root agent answers a prompt now: a word for the running turn reaches it. */
  get isAnswering(): boolean {
    return this.run !== undefined && this.root.isAnswering;
  }

  /** Stops the loop and leaves what it worked on as pending work. */
  async halt({ hasUserLeft = false } = {}): Promise<void> {
    this.inbox.pause();
    this.isHalted = true;
    this.requests.close();
    const run = this.run;
    const closing = new Interruption('close', 'The session was closed');
    run?.controller.abort(closing);
    this.root.stopEnding();
    await Promise.all([
      run?.done,
      this.title.stop(),
      this.subAgents.stopAll(closing),
      this.appCalls.stopAll(closing),
    ]);
    await this.compactor.close();
    if (hasUserLeft) await this.root.userLeft(run?.interaction);
  }

  /** Nothing is made in the background any more; a prompt may come all the same. */
  rest(): Promise<void> {
    return this.title.stop();
  }

  /** For what belongs to no prompt. */
  private asideContext(trace = {}): AgentContext {
    return this.context(new Interaction(this.host.clock.newId(), { trace }));
  }

  /** How the conversation is summarised by a client's wish. */
  async summaryCall(signal: AbortSignal): Promise<SummaryCall> {
    const context = this.asideContext(this.host.planner.settings.trace);
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

  /** Closes the running turn as interrupted: the client that was asked last is no longer there. */
  async supersede(): Promise<void> {
    await this.interrupt(new Interruption('superseded', 'Interrupted by a client that resumed the session'));
  }

  /** Goes on with what was left: an open turn, prompts that wait, and open questions, which may be answered from then on. */
  async continueWork(): Promise<void> {
    this.requests.reopen();
    this.appCalls.closeLeft();
    closeOrphans(this);
    // A run that waits for agents looks at the prompts that wait.
    this.subAgents.wake();
    if (!this.run && hasTurnWork(this.log.state)) await this.start(undefined);
  }

  /** Closes what a process before this one had left; prompts that wait become messages for the next turn to answer. */
  async closeInterrupted(): Promise<void> {
    this.appCalls.closeLeft();
    if (!hasWork(this.log.state)) return;
    this.requests.closeLeft();
    closeOrphans(this);
    this.root.closeInterrupted();
    this.subAgents.closeInterrupted();
    for (let prompt = await this.inbox.takeNext(); prompt; prompt = await this.inbox.takeNext())
      await (prompt.prompt.isCommand ? this.commands.drop(prompt.prompt) : this.root.deliverOnly(prompt));
    await this.log.stored();
  }

  private async interrupt(interruption: Interruption): Promise<void> {
    const others = [this.subAgents, this.appCalls].map((each) => each.stopAll(interruption));
    const turnEnd = this.run && this.root.turnEnd;
    this.run?.controller.abort(interruption);
    if (this.run) this.root.stopEnding();
    await Promise.all([turnEnd, ...others]);
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
    await this.title.stop();
    this.subAgents.continueAll();
    if (!first) receipt.resolve();
    let outcome = first
      ? await this.root.answer(run, first, { delivery: 'idle', receipt })
      : await this.root.continue(run);
    for (;;) {
      while (outcome !== 'stopped' && outcome !== 'held' && !this.inbox.isEmpty) {
        const received = await this.inbox.takeNext();
        if (received) outcome = await this.answerQueued(run, received);
      }
      if (outcome === 'stopped' || outcome === 'held') break;
      const next = await this.afterAgents(run, outcome);
      if (next === undefined) break;
      outcome = next;
    }
    this.run = undefined;
    if (outcome === 'stopped') return;
    this.emitIdle(outcome === 'aborted');
    this.keepSnapshot();
    if (!this.isHalted) this.title.offer(this.log.latest);
  }

  private async answerQueued(run: Run, received: ReceivedPrompt): Promise<TurnOutcome> {
    const how = { delivery: 'queued', receipt: silentReceipt } as const;
    this.wakes = 0;
    run.controller = new AbortController();
    if (!received.prompt.isCommand) return this.root.answer(run, received, how);
    const end = await this.commands.run(received.prompt, run.controller.signal);
    return typeof end === 'string' ? end : this.root.answer(run, { prompt: end.prompt, extras: {} }, how);
  }

  /** Waits for agents in the background, and has the root agent read of those that ended; undefined when all is done. */
  private async afterAgents(run: Run, outcome: TurnOutcome): Promise<TurnOutcome | undefined> {
    const { subAgents, root } = this;
    if (outcome === 'aborted') return undefined;
    if (subAgents.noticesFor(undefined).length > 0) {
      this.wakes += 1;
      run.controller = new AbortController();
      if (this.wakes <= mostWakes) return root.notice(run);
      await root.record(...subAgents.noticesFor(undefined));
      return outcome;
    }
    if (!subAgents.isBusy) return undefined;
    this.log.emit({ type: 'assistant.idle', data: {} });
    run.controller = new AbortController();
    const { signal } = run.controller;
    const interrupted = () => root.interrupted(signal.reason);
    return subAgents.change(signal).then(() => outcome, interrupted);
  }

  /** Agents of a session whose root agent is idle have ended: it reads of them. */
  private wakeForNotices(): void {
    if (!this.run && !this.isHalted && this.subAgents.hasNewsForRoot) void this.start(undefined);
  }

  /** Nothing can be written: clients receive it all the same, and nothing that they received before is lost. */
  private reportStoreFailure(error: unknown): TurnOutcome {
    const isLost = error instanceof StoreError && isLoss(error);
    const isUnreported = isLost && this.run?.isSafe === false;
    if (error instanceof StoreError && this.host.leaves(error)) {
      this.host.lost(error);
      return 'stopped';
    }
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
  keepSnapshot(threshold = 256 * 1024): void {
    const { latest, unfolded } = this.log;
    if (unfolded < Math.max(threshold, sizeOfAgents(latest)) || this.run) return;
    this.log.append({ note: 'snapshot', data: { state: latest } });
  }

  /** All agents of a session share its hooks' guard, its questions and its permissions. */
  private agentContexts(): AgentContexts {
    const { host, waits } = this;
    const { audience } = host;
    const log = new AgentLog(this.log);
    const held = () => void this.log.stored().then(() => host.held(), ignored);
    this.guard = new HookGuard({ log, waits, held, attached: () => audience.guardedPoints });
    const { questions, offers, guard } = this;
    const takeStart = () => {
      const isFirst = !this.hasStarted;
      this.hasStarted = true;
      return isFirst;
    };
    const shared = { ...host, sessionLog: this.log, questions, offers, waits, guard, takeStart };
    return (seat) => agentContexts(seat, shared);
  }
}

/** How often agents that ended may have the root agent go on without a word of the user. */
const mostWakes = 50;

/** Callers that wait for a commit that failed learn of it. */
const ignored = (): undefined => undefined;
