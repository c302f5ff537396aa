import { StoreError } from '@groundcrew/store';
import { type Receipt, RootAgent } from '../agents/root-agent.js';
import { errorData } from '../agents/session-error.js';
import type { SubAgents } from '../agents/sub-agents.js';
import { isLoss, type Run, type TurnOutcome } from '../agents/turn-outcome.js';
import { QueuedCommands } from '../commands/queued-commands.js';
import { type Interruption, TurnAborted } from '../interruption.js';
import { sizeOfAgents } from '../log/ended-agents.js';
import type { SessionLog } from '../log/session-log.js';
import type { ClientRequests } from '../questions/client-requests.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { AgentContext, ReceivedPrompt } from '../turn/agent-context.js';
import type { Interaction } from '../turn/interaction.js';
import type { SessionTitle } from '../turn/session-title.js';
import type { Inbox } from './inbox.js';
import { silentReceipt } from './receipts.js';
import type { ConversationHost } from './session-environment.js';

/** The parts of a conversation that its loop works with. */
interface LoopParts {
  readonly log: SessionLog;
  readonly host: ConversationHost;
  readonly inbox: Inbox;
  readonly subAgents: SubAgents;
  readonly requests: ClientRequests;
  readonly title: SessionTitle;
  context(interaction: Interaction): AgentContext;
  trace(): TraceContext;
}

/** The one loop of a conversation: the root agent answers a prompt after the other, and reads of agents that ended. */
export class AgentLoop {
  private readonly root: RootAgent;
  private readonly commands: QueuedCommands;
  private run: Run | undefined;
  private wakes = 0;
  private isHalted = false;

  constructor(private readonly parts: LoopParts) {
    const { log, host, requests, context, trace } = parts;
    const { clock, observer, commands, readers } = host;
    this.root = new RootAgent({
      log,
      newId: () => clock.newId(),
      context,
      trace,
      observer,
      storeFailed: (error) => this.reportStoreFailure(error),
    });
    const record = this.root.record.bind(this.root);
    this.commands = new QueuedCommands({ commands, readers, requests, record });
  }

  get isRunning(): boolean {
    return this.run !== undefined;
  }

  /** The root agent answers a prompt now: a word for the running turn reaches it. */
  get isAnswering(): boolean {
    return this.run !== undefined && this.root.isAnswering;
  }

  /** What runs for the prompt that is answered now. */
  get interaction(): Interaction | undefined {
    return this.run?.interaction;
  }

  /** Resolves when the first prompt is stored; without a prompt, at once. */
  start(first: ReceivedPrompt | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const run: Run = {
        controller: new AbortController(),
        isSafe: !first,
        done: Promise.resolve().then(() => this.work(run, first, { resolve, reject })),
      };
      this.run = run;
    });
  }

  /** Agents of a session whose root agent is idle have ended: it reads of them. */
  wakeForNotices(): void {
    if (!this.run && !this.isHalted && this.parts.subAgents.hasNewsForRoot) void this.start(undefined);
  }

  /** Ends the turn of the root agent; agents in the background work on. False when it answers nothing. */
  async interruptRoot(): Promise<boolean> {
    if (!this.isAnswering) return false;
    await this.interrupt(new TurnAborted('user_initiated'));
    return true;
  }

  /** Ends what runs; resolves when the turn has ended and clients have received that. */
  async interrupt(interruption: Interruption): Promise<void> {
    const { run, root } = this;
    if (!run) return;
    const { turnEnd } = root;
    run.controller.abort(interruption);
    root.stopEnding();
    await turnEnd;
  }

  /** Resolves when nothing runs. */
  async ended(): Promise<void> {
    await this.run?.done;
  }

  /** Ends what runs and starts nothing by itself any more; resolves with what ran for the last prompt. */
  async halt(closing: Interruption): Promise<Interaction | undefined> {
    const { run } = this;
    this.isHalted = true;
    run?.controller.abort(closing);
    this.root.stopEnding();
    await run?.done;
    return run?.interaction;
  }

  /** The session is closed while a turn runs. */
  userLeft(interaction: Interaction | undefined): Promise<void> {
    return this.root.userLeft(interaction);
  }

  /** A turn whose session is another process's by now is over, be it only waiting for an answer. */
  storeFailed(error: unknown): void {
    if (error instanceof StoreError && isLoss(error)) this.run?.controller.abort(error);
  }

  /** Closes what a process before this one had left; prompts that wait become messages for the next turn to answer. */
  async closeInterrupted(): Promise<void> {
    const { inbox, subAgents } = this.parts;
    this.root.closeInterrupted();
    subAgents.closeInterrupted();
    for (let prompt = await inbox.takeNext(); prompt; prompt = await inbox.takeNext())
      await (prompt.prompt.isCommand ? this.commands.drop(prompt.prompt) : this.root.deliverOnly(prompt));
  }

  /** Folding the log again must stay cheap however long it grows. */
  keepSnapshot(threshold: number): void {
    const { log } = this.parts;
    const { latest, unfolded } = log;
    if (unfolded < Math.max(threshold, sizeOfAgents(latest)) || this.run) return;
    log.append({ note: 'snapshot', data: { state: latest } });
  }

  private async work(run: Run, first: ReceivedPrompt | undefined, receipt: Receipt): Promise<void> {
    const { inbox, subAgents, title, log } = this.parts;
    await title.stop();
    subAgents.continueAll();
    if (!first) receipt.resolve();
    let outcome = first
      ? await this.root.answer(run, first, { delivery: 'idle', receipt })
      : await this.root.continue(run);
    for (;;) {
      while (outcome !== 'stopped' && outcome !== 'held' && !inbox.isEmpty) {
        const received = await inbox.takeNext();
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
    this.keepSnapshot(snapshotBytes);
    if (!this.isHalted) title.offer(log.latest);
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
    const { root } = this;
    const { subAgents, log } = this.parts;
    if (outcome === 'aborted') return undefined;
    if (subAgents.noticesFor(undefined).length > 0) {
      this.wakes += 1;
      run.controller = new AbortController();
      if (this.wakes <= mostWakes) return root.notice(run);
      await root.record(...subAgents.noticesFor(undefined));
      return outcome;
    }
    if (!subAgents.isBusy) return undefined;
    log.emit({ type: 'assistant.idle', data: {} });
    run.controller = new AbortController();
    const { signal } = run.controller;
    const interrupted = () => root.interrupted(signal.reason);
    return subAgents.change(signal).then(() => outcome, interrupted);
  }

  /** Nothing can be written: clients receive it all the same, and nothing that they received before is lost. */
  private reportStoreFailure(error: unknown): TurnOutcome {
    const { host, log } = this.parts;
    const isLost = error instanceof StoreError && isLoss(error);
    const isUnreported = isLost && this.run?.isSafe === false;
    if (error instanceof StoreError && host.leaves(error)) {
      host.lost(error);
      return 'stopped';
    }
    if (!isUnreported) log.emit({ type: 'session.error', ephemeral: true, data: errorData(error) });
    if (!isLost) return 'answered';
    if (!isUnreported) this.emitIdle(true);
    host.lost(error);
    return 'stopped';
  }

  private emitIdle(aborted: boolean): void {
    const { log } = this.parts;
    const data = aborted ? { aborted } : {};
    log.emit({ type: 'assistant.idle', data });
    log.emit({ type: 'session.idle', data });
  }
}

/** How often agents that ended may have the root agent go on without a word of the user. */
const mostWakes = 50;

/** What a log may grow by before its state is written into it; more when that is larger. */
const snapshotBytes = 256 * 1024;
