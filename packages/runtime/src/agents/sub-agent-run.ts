import { StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import { Interruption } from '../interruption.js';
import { AgentLog } from '../log/agent-log.js';
import type { AgentTask } from '../log/agent-task.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { CapReached } from '../model-call/allowance.js';
import type { Waits } from '../questions/waits.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { Slots } from '../slots.js';
import type { AgentWatch, Observer } from '../telemetry/observer.js';
import type { AgentContext } from '../turn/agent-context.js';
import { deliver } from '../turn/deliver.js';
import { Interaction } from '../turn/interaction.js';
import { runUntilAnswered } from '../turn/turn.js';
import type { AgentContexts, MakeAgentContexts } from './agent-contexts.js';
import { capsFor, timeLeft } from './caps.js';
import { continueTurn } from './continue-turn.js';
import {
  closingDrafts,
  endBy,
  endDrafts,
  type HowEnded,
  hookInput,
  isRejected,
  namesOf,
  rejectedRemark,
} from './sub-agent-end.js';
import { type SubAgentPlanParts, SubAgentPlans } from './sub-agent-plans.js';
import { capsOfTask } from './sub-agent-settings.js';

/** What the session gives its sub-agents. */
export interface SubAgentHost extends SubAgentPlanParts {
  readonly contexts: MakeAgentContexts;
  trace(): TraceContext;
  /** Watches the work, where telemetry is on. */
  readonly observer: Observer | undefined;
}

interface RunParts extends SubAgentHost {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly waits: Waits;
  readonly slots: Slots;
  readonly siblings: {
    noticesFor(agentId: string): readonly Draft[];
    hasChildren(agentId: string): boolean;
    /** Ends all that an agent began. */
    stopChildren(agentId: string, reason: Error): Promise<void>;
    change(signal: AbortSignal): Promise<void>;
    interactionOf(agentId: string | undefined): Interaction | undefined;
  };
}

/** One sub-agent at work: the same loop as the root's, on its own part of the log. */
export class SubAgentRun {
  interaction: Interaction | undefined;
  readonly done: Promise<void>;
  /** Resolves when its call need not wait any longer. */
  readonly promoted: Promise<void>;
  promote: () => void = () => undefined;
  private finish: () => void = () => undefined;
  private readonly controller = new AbortController();
  private release: () => void = () => undefined;
  private readonly agentLog: AgentLog;
  private readonly contexts: AgentContexts;
  private readonly plans: SubAgentPlans;
  private watch: AgentWatch | undefined;

  constructor(
    private readonly begun: AgentTask,
    private readonly parts: RunParts,
  ) {
    this.agentLog = new AgentLog(parts.log, begun.agentId, begun.toolCallId);
    this.plans = new SubAgentPlans(begun.agent, {
      ...parts,
      task: () => this.task,
      state: () => parts.log.state,
    });
    this.contexts = this.makeContexts();
    this.promoted = new Promise((resolve) => {
      this.promote = resolve;
    });
    this.done = new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  /** Ends it as an abort, a suspension or a close would. */
  stop(reason: unknown): void {
    this.controller.abort(reason);
  }

  /** Works until it has nothing more to do; false when it was left as it is. Rejects only when nothing can be written. */
  async start(): Promise<boolean> {
    const { parts } = this;
    const stopTimer = this.limitTime();
    this.plans.takeServers();
    this.watch = this.observe();
    let failure: unknown;
    try {
      await this.takeSlot(this.controller.signal);
      do await parts.waits.during(this.wait({ isQueued: false }), this.work());
      while (this.task.messages.length > 0);
      // Nothing is waited for between the look at its messages and this record: none is overlooked.
      await this.end({ status: 'completed', ...rejectedRemark(this.agentLog) });
      return true;
    } catch (error) {
      failure = this.controller.signal.aborted ? this.controller.signal.reason : error;
      return await this.fail(error);
    } finally {
      const { watch } = this;
      if (watch)
        void this.parts.log.published().then(
          () => watch.end(failure),
          () => watch.end(failure),
        );
      stopTimer();
      this.release();
      await Promise.all([this.contexts.compactor.close(), this.plans.releaseServers()]);
      this.finish();
    }
  }

  private observe(): AgentWatch | undefined {
    const { begun, parts } = this;
    const { agentId, toolCallId, agent } = begun;
    const { name, description } = agent;
    const { sessionId } = parts.log;
    return parts.observer?.begin({ sessionId, agentId, toolCallId, name, description }, this.parentTrace());
  }

  private parentTrace(): TraceContext {
    const { begun, parts } = this;
    const parent = begun.mode === 'sync' ? parts.siblings.interactionOf(begun.parentAgentId) : undefined;
    return parent?.options.trace ?? parts.trace();
  }

  /** Closes an agent that is not continued. */
  static close(task: AgentTask, { log, clock }: { log: SessionLog; clock: Clock }, error: string): void {
    const agentLog = new AgentLog(log, task.agentId, task.toolCallId);
    agentLog.append(
      ...closingDrafts(agentLog.latest, error),
      ...(task.isAnnounced
        ? [
            {
              type: 'subagent.failed' as const,
              data: { toolCallId: task.toolCallId, ...namesOf(task), error },
            },
          ]
        : []),
      {
        note: 'agent.changed',
        data: {
          agentId: task.agentId,
          ...{ status: 'failed', error, completedAt: clock.timestamp(), isNotified: true },
          activeMs: task.activeMs ?? 0,
        },
      },
    );
  }

  /** As the log has it now. */
  private get task(): AgentTask {
    return this.parts.log.latest.tasks[this.begun.agentId] ?? this.begun;
  }

  private async work(): Promise<void> {
    const { signal } = this.controller;
    const { turn, history } = this.agentLog.latest;
    if (history.length === 0) await this.begin(signal);
    else if (turn) {
      const context = this.newContext(turn);
      if ((await continueTurn(context, signal)) === 'results wait') await runUntilAnswered(context, signal);
    } else if (history.at(-1)?.role !== 'assistant' && !isRejected(this.agentLog.latest))
      await runUntilAnswered(this.newContext(), signal);
    while (await this.next(signal));
  }

  /** A message, news of agents of its own, or the end of one: true when there may be more. */
  private async next(signal: AbortSignal): Promise<boolean> {
    const { task, parts } = this;
    const [message] = task.messages;
    if (message) {
      const context = this.newContext();
      const prompt = { ...message, mode: 'enqueue' as const, source: this.source() };
      await deliver(prompt, { delivery: 'queued', signal }, context);
      await runUntilAnswered(context, signal);
      return true;
    }
    if (parts.siblings.noticesFor(task.agentId).length > 0) {
      await runUntilAnswered(this.newContext(), signal);
      return true;
    }
    if (!parts.siblings.hasChildren(task.agentId)) return false;
    // It takes no place while it waits for its own, which may need one.
    this.release();
    await parts.siblings.change(signal);
    await this.takeSlot(signal);
    return true;
  }

  private async begin(signal: AbortSignal): Promise<void> {
    const { task } = this;
    const context = this.newContext();
    if (!task.isAnnounced) this.announce(context);
    if (context.hooks.has('subagentStart')) {
      const transcriptPath = await context.session.writeTranscript();
      await context.hooks.run('subagentStart', { ...hookInput(task), transcriptPath }, signal);
    }
    await context.planner.ready(signal);
    const { agentId: messageId, prompt: text } = task;
    const prompt = { messageId, text, mode: 'enqueue' as const, source: this.source() };
    await deliver(prompt, { delivery: 'idle', signal }, context);
    await runUntilAnswered(context, signal);
  }

  private announce({ planner }: AgentContext): void {
    const { task } = this;
    const { description: agentDescription, name: agentType } = task.agent;
    this.agentLog.append({
      type: 'subagent.started',
      data: {
        toolCallId: task.toolCallId,
        ...namesOf(task),
        agentDescription,
        model: planner.model(),
        ...{ agentType, executionMode: task.mode, resumable: false, depth: task.depth },
      },
    });
  }

  /** Waits until there is a place; a sync agent of another agent works in the place of its parent, which waits for it. */
  private async takeSlot(signal: AbortSignal): Promise<void> {
    const { parts, agentLog } = this;
    const { parentAgentId, mode } = this.task;
    if (parentAgentId !== undefined && mode === 'sync') return;
    if (agentLog.latest.turn) {
      // It had a place when its process died: its questions wait for answers from now on.
      this.release = parts.slots.takeAnyway();
      return;
    }
    const isQueued = parts.slots.isFull;
    const taken = parts.slots.take(signal);
    this.release = await (isQueued ? parts.waits.during(this.wait({ isQueued }), taken) : taken);
  }

  private wait({ isQueued }: { readonly isQueued: boolean }) {
    const { agentId, agent } = this.begun;
    return { kind: 'agent', agentId, agentName: agent.name, isQueued } as const;
  }

  private makeContexts(): AgentContexts {
    const { parts, agentLog } = this;
    const { agentId } = this.begun;
    return parts.contexts({
      log: agentLog,
      planner: this.plans.planner(),
      inbox: {
        takeSteering: async () => [],
        putBack: () => undefined,
        takeNotices: () => parts.siblings.noticesFor(agentId),
      },
      caps: () => this.capsNow(),
    });
  }

  private newContext(turn?: { readonly turnId: string; readonly interactionId: string }): AgentContext {
    const { task, parts } = this;
    const parent = task.mode === 'sync' ? parts.siblings.interactionOf(task.parentAgentId) : undefined;
    const requestHeaders = parent?.options.requestHeaders;
    const interaction = new Interaction(turn?.interactionId ?? parts.clock.newId(), {
      trace: this.parentTrace(),
      ...(requestHeaders && { requestHeaders }),
    });
    if (turn) interaction.rounds = Number(turn.turnId) + 1;
    if (this.watch) interaction.watchedBy(this.watch);
    this.interaction = interaction;
    return this.contexts.of(interaction);
  }

  private capsNow() {
    const settings = this.parts.settings();
    const caps = capsOfTask(this.task, settings);
    const own = Object.keys(caps).some((name) => name !== 'maxSeconds') ? caps : undefined;
    return capsFor(this.task, this.parts.log.latest, { own, tree: settings.treeCaps });
  }

  /** Ends the agent when it, or the tree it belongs to, has worked as long as it may; returns what stops that. */
  private limitTime(): () => void {
    const { parts, task } = this;
    const { treeCaps } = parts.settings();
    const { milliseconds, reason } = timeLeft(task, {
      own: capsOfTask(task, parts.settings()),
      tree: treeCaps,
      tasks: parts.log.latest.tasks,
      now: parts.clock.now().getTime(),
    });
    const longestTimer = 2 ** 31 - 1; // Timers of Node count no further.
    if (milliseconds > longestTimer) return () => undefined;
    const timer = setTimeout(() => this.stop(new CapReached(reason)), milliseconds);
    return () => clearTimeout(timer);
  }

  private source(): string {
    return `agent-${this.begun.parentAgentId ?? this.parts.log.sessionId}`;
  }

  private async fail(error: unknown): Promise<boolean> {
    const { parts, begun } = this;
    const { signal } = this.controller;
    const reason: unknown = signal.aborted ? signal.reason : error;
    if (error instanceof StoreError || reason instanceof StoreError) throw error;
    // What is closed is left as it is, for another process to go on with.
    if (reason instanceof Interruption && reason.kind === 'close') return false;
    await parts.siblings.stopChildren(begun.agentId, new Interruption('abort', 'The agent above has ended'));
    await this.end(endBy(reason));
    return true;
  }

  /** Writes how it ended, with what it had. */
  private async end(how: HowEnded): Promise<void> {
    const { task, parts, agentLog } = this;
    const now = parts.clock.now();
    const { drafts, result } = endDrafts(task, how, { state: parts.log.latest, now });
    agentLog.append(...drafts);
    await parts.log.stored();
    await this.runStopHook(how.status, result);
  }

  private async runStopHook(stopReason: string, response: string): Promise<void> {
    const { hooks, session } = this.contexts.of(new Interaction(this.parts.clock.newId(), { trace: {} }));
    if (!hooks.has('subagentStop')) return;
    // The agent is over: nothing stops what comes after it but time.
    const { signal } = new AbortController();
    const transcriptPath = await session.writeTranscript().catch(() => '');
    const input = { ...hookInput(this.task), transcriptPath, stopReason, response };
    await hooks.run('subagentStop', input, signal).catch(() => []);
  }
}
