import { type AgentContexts, agentContexts, type MakeAgentContexts } from '../agents/agent-contexts.js';
import { sampleFor } from '../agents/agent-sampling.js';
import { AppCalls } from '../agents/app-calls.js';
import { closeOrphans } from '../agents/question-cancellation.js';
import { SubAgents } from '../agents/sub-agents.js';
import { agentsOnlyWait } from '../agents/waiting-agents.js';
import type { SummaryCall } from '../compaction/summary-call.js';
import { HookGuard } from '../hooks/guard.js';
import { type AbortReason, Interruption, TurnAborted } from '../interruption.js';
import { AgentLog } from '../log/agent-log.js';
import { hasTurnWork, hasWork } from '../log/fold.js';
import type { SessionLog } from '../log/session-log.js';
import type { Prompt } from '../log/state.js';
import type { sample } from '../mcp/sampling.js';
import { ClientRequests } from '../questions/client-requests.js';
import { Offers } from '../questions/offers.js';
import { type Answers, type QuestionRef, Questions } from '../questions/questions.js';
import { type Wait, Waits } from '../questions/waits.js';
import type { AgentContext, ReceivedPrompt } from '../turn/agent-context.js';
import { checkedExtras, Interaction, type PromptExtras } from '../turn/interaction.js';
import { SessionTitle } from '../turn/session-title.js';
import { summaryCall } from '../turn/summary-call.js';
import { AgentLoop } from './agent-loop.js';
import { Inbox } from './inbox.js';
import { Receipts } from './receipts.js';
import type { ConversationHost } from './session-environment.js';

/** A session's log in memory, with the one loop that works on it. */
export class Conversation {
  readonly inbox: Inbox;
  readonly questions: Questions;
  /** Open questions that clients are asked by requests. */
  readonly offers: Offers;
  /** Slash commands, forms and other requests to clients that belong to no turn. */
  readonly requests: ClientRequests;
  private readonly receipts: Receipts;
  private readonly waits: Waits;
  private readonly loop: AgentLoop;
  private readonly title: SessionTitle;
  private readonly root: AgentContexts;
  /** The agents that work for the root agent. */
  readonly subAgents: SubAgents;
  /** What apps run by themselves. */
  readonly appCalls: AppCalls;
  /** When the prompts that wait now began to. */
  private queuedSince: string | undefined;
  private hasStarted = false;
  /** Holds calls back while the session's hooks are away. */
  readonly guard: HookGuard;

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
    this.guard = new HookGuard({
      log: new AgentLog(log),
      waits: this.waits,
      held: () => void log.stored().then(() => host.held(), ignored),
      attached: () => host.audience.guardedPoints,
    });
    const contexts = this.makeContexts();
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
      rootInteraction: () => this.loop.interaction,
      changed: () => this.loop.wakeForNotices(),
    });
    const rootPlanner = planner.forAgent(() => log.latest, this.waits);
    this.appCalls = new AppCalls({ log, clock, contexts, planner: rootPlanner, trace });
    this.root = contexts({ log: new AgentLog(log), planner: rootPlanner, inbox: this.inbox });
    const isByModel = planner.isTitledByModel.bind(planner);
    this.title = new SessionTitle({ context: () => this.asideContext(), isByModel });
    this.loop = new AgentLoop({
      log,
      host,
      inbox: this.inbox,
      subAgents: this.subAgents,
      requests: this.requests,
      title: this.title,
      context: (interaction) => this.root.of(interaction),
      trace,
    });
  }

  /** Summarises the conversation when its window fills. */
  get compactor(): AgentContexts['compactor'] {
    return this.root.compactor;
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
    return this.loop.isRunning || this.subAgents.isBusy || this.appCalls.isBusy;
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
    const hasSecrets = this.inbox.hasSecrets || this.loop.interaction?.options.requestHeaders !== undefined;
    const mayUnload = this.isRunning && !hasSecrets && !this.requests.hasCallers && !this.appCalls.isBusy;
    return mayUnload && agentsOnlyWait(this.log.latest, this);
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
    if (!this.loop.isRunning && !this.inbox.holds(prompt)) void this.loop.start(undefined);
  }

  private async accept(received: ReceivedPrompt, position?: number): Promise<void> {
    const { prompt } = received;
    const isHeld = this.inbox.holds(prompt);
    const isFree = !this.loop.isRunning && this.inbox.isEmpty;
    if (isFree && !prompt.isCommand && !isHeld) return this.loop.start(received);
    await this.enqueue(received, position);
  }

  /** Ends the running turn and its tools; prompts that wait are kept and start next. */
  async abort(reason: AbortReason): Promise<void> {
    await this.interrupt(new TurnAborted(reason));
  }

  /** Ends the turn of the root agent; agents in the background work on. False when it answers nothing. */
  interruptMain(): Promise<boolean> {
    return this.loop.interruptRoot();
  }

  /** The root agent answers a prompt now: a word for the running turn reaches it. */
  get isAnswering(): boolean {
    return this.loop.isAnswering;
  }

  /** Stops the loop and leaves what it worked on as pending work. */
  async halt({ hasUserLeft = false } = {}): Promise<void> {
    this.inbox.pause();
    this.requests.close();
    const closing = new Interruption('close', 'The session was closed');
    const [interaction] = await Promise.all([
      this.loop.halt(closing),
      this.title.stop(),
      this.subAgents.stopAll(closing),
      this.appCalls.stopAll(closing),
    ]);
    await this.compactor.close();
    if (hasUserLeft) await this.loop.userLeft(interaction);
  }

  /** Nothing is made in the background any more; a prompt may come all the same. */
  stopBackground(): Promise<void> {
    return this.title.stop();
  }

  /** For what belongs to no prompt. */
  private asideContext(trace = {}): AgentContext {
    return this.root.of(new Interaction(this.host.clock.newId(), { trace }));
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
    await this.loop.ended();
    this.inbox.resume();
  }

  /** A turn whose session is another process's by now is over, be it only waiting for an answer. */
  storeFailed(error: unknown): void {
    this.loop.storeFailed(error);
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
    if (!this.loop.isRunning && hasTurnWork(this.log.state)) await this.loop.start(undefined);
  }

  /** Closes what a process before this one had left; prompts that wait become messages for the next turn to answer. */
  async closeInterrupted(): Promise<void> {
    this.appCalls.closeLeft();
    if (!hasWork(this.log.state)) return;
    this.requests.closeLeft();
    closeOrphans(this);
    await this.loop.closeInterrupted();
    await this.log.stored();
  }

  private async interrupt(interruption: Interruption): Promise<void> {
    const others = [this.subAgents, this.appCalls].map((each) => each.stopAll(interruption));
    await Promise.all([this.loop.interrupt(interruption), ...others]);
  }

  /** Writes the state into the log, if that has grown by so many bytes and nothing runs. */
  keepSnapshot(threshold: number): void {
    this.loop.keepSnapshot(threshold);
  }

  /** All agents of a session share its hooks' guard, its questions and its permissions. */
  private makeContexts(): MakeAgentContexts {
    const { host, log, waits, questions, offers, guard } = this;
    const takeStart = () => {
      const isFirst = !this.hasStarted;
      this.hasStarted = true;
      return isFirst;
    };
    const shared = { ...host, sessionLog: log, questions, offers, waits, guard, takeStart };
    return (parts) => agentContexts(parts, shared);
  }
}

/** Callers that wait for a commit that failed learn of it. */
const ignored = (): undefined => undefined;
