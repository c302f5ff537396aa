import { StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import { TurnAborted } from '../interruption.js';
import { type AgentTask, activeMilliseconds } from '../log/agent-task.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { agentOf } from '../log/state.js';
import type { Waits } from '../questions/waits.js';
import { Slots } from '../slots.js';
import type { Interaction } from '../turn/interaction.js';
import { type SubAgentHost, SubAgentRun } from './sub-agent-run.js';
import { noticeOf } from './task-texts.js';

/** What the sub-agents of a session work with. */
export interface SubAgentParts extends SubAgentHost {
  readonly log: SessionLog;
  readonly clock: Clock;
  readonly waits: Waits;
  /** What the agent of this id works on now; undefined for the root's id. */
  rootInteraction(): Interaction | undefined;
  /** An agent has ended, and its parent may have to be woken. */
  changed(): void;
}

/** What begins an agent. */
export type NewTask = Pick<
  AgentTask,
  | 'toolCallId'
  | 'agent'
  | 'name'
  | 'description'
  | 'prompt'
  | 'mode'
  | 'parentAgentId'
  | 'model'
  | 'reasoningEffort'
>;

/** An agent may not be begun here. */
export class TooDeep extends Error {
  override readonly name = 'TooDeep';
}

/** The agents that work for a session's agent: begun, continued after a crash, watched and ended here. */
export class SubAgents {
  private readonly runs = new Map<string, SubAgentRun>();
  private readonly slots: Slots;
  private readonly watchers = new Set<() => void>();
  /** When the process before this one left the session. */
  private readonly leftAt: number;
  /** Agents whose result a call of this process has had: another call under the same id begins another one. */
  private readonly delivered = new Set<string>();

  constructor(private readonly parts: SubAgentParts) {
    this.slots = new Slots(() => parts.settings().maxConcurrency);
    this.leftAt = Date.parse(parts.log.state.modifiedAt);
  }

  /** Every agent that is known, in the order in which they began. */
  get tasks(): readonly AgentTask[] {
    return Object.values(this.parts.log.latest.tasks);
  }

  find(agentId: string): AgentTask | undefined {
    const { tasks } = this.parts.log.latest;
    return Object.hasOwn(tasks, agentId) ? tasks[agentId] : undefined;
  }

  /** Whether an agent began this one, or one that it descends from; the root agent leads all, also those that clients began. */
  isLedBy({ parentAgentId }: AgentTask, leader: string | undefined): boolean {
    if (leader === undefined || parentAgentId === leader) return true;
    const parent = parentAgentId === undefined ? undefined : this.find(parentAgentId);
    return parent !== undefined && this.isLedBy(parent, leader);
  }

  /** The same of an agent that may be known no longer. */
  leads(leader: string | undefined, agentId: string | undefined): boolean {
    const task = agentId === undefined ? undefined : this.find(agentId);
    return leader === undefined || (task !== undefined && this.isLedBy(task, leader));
  }

  /** The agent that a call has begun in a process before this one, or before it was tried again. */
  begunBy(toolCallId: string, parentAgentId: string | undefined): AgentTask | undefined {
    const { calls } = agentOf(this.parts.log.latest, parentAgentId);
    const call = calls.find((each) => each.toolCallId === toolCallId);
    // Services that number the calls of each answer give the same id again and again.
    if (!call || call.attempts < 2) return undefined;
    return this.tasks.findLast(
      (task) =>
        task.toolCallId === toolCallId &&
        task.parentAgentId === parentAgentId &&
        !this.delivered.has(task.agentId),
    );
  }

  /** A call has had the result of an agent. */
  deliver(agentId: string): void {
    this.delivered.add(agentId);
  }

  /** Some agent is at work. */
  get isBusy(): boolean {
    return this.runs.size > 0;
  }

  /** Begins an agent; its record is stored before it does anything. Throws TooDeep. */
  async start(given: NewTask): Promise<AgentTask> {
    const { log, clock } = this.parts;
    const { maxDepth } = this.parts.settings();
    const parent = given.parentAgentId === undefined ? undefined : this.find(given.parentAgentId);
    const depth = (parent?.depth ?? 0) + 1;
    if (depth > maxDepth) throw new TooDeep(`Agents may be nested ${maxDepth} deep, and no deeper.`);
    const task: AgentTask = {
      ...given,
      agentId: clock.newId(),
      depth,
      status: 'running',
      startedAt: clock.timestamp(),
      messages: [],
    };
    log.append({ note: 'agent.started', data: task });
    await log.stored();
    this.run(task);
    return task;
  }

  /** Goes on with agents that another process had left at work. */
  continueAll(): void {
    for (const task of this.tasks) {
      if (task.status !== 'running' || this.runs.has(task.agentId)) continue;
      const { agentId } = task;
      const { log, clock } = this.parts;
      const activeMs = activeMilliseconds(task, this.leftAt);
      log.append({ note: 'agent.changed', data: { agentId, activeMs, resumedAt: clock.timestamp() } });
      this.run(task);
    }
  }

  /** Closes what another process had left: it is not continued. */
  closeInterrupted(): void {
    for (const task of this.tasks)
      if (task.status === 'running') SubAgentRun.close(task, this.parts, 'The session was interrupted');
  }

  /** Resolves when the agent has ended, or works in the background from now on. */
  async ended(agentId: string, signal: AbortSignal): Promise<AgentTask | undefined> {
    const stop = () => this.halt(agentId, signal.reason);
    signal.addEventListener('abort', stop, { once: true });
    try {
      if (signal.aborted) stop();
      const run = this.runs.get(agentId);
      await Promise.race([run?.done, run?.promoted]);
      signal.throwIfAborted();
      return this.find(agentId);
    } finally {
      signal.removeEventListener('abort', stop);
    }
  }

  /** Resolves with the next end of an agent; rejects when the signal aborts. */
  change(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = () => {
        signal.removeEventListener('abort', stop);
        this.watchers.delete(done);
        resolve();
      };
      const stop = () => {
        this.watchers.delete(done);
        reject(signal.reason);
      };
      if (signal.aborted) {
        stop();
        return;
      }
      signal.addEventListener('abort', stop, { once: true });
      this.watchers.add(done);
    });
  }

  /** A prompt came, or an agent ended. */
  wake(): void {
    for (const done of [...this.watchers]) done();
  }

  /** An agent and all below it end; resolves when they have. */
  async stop(agentId: string, reason: Error = new TurnAborted('user_abort')): Promise<boolean> {
    const run = this.runs.get(agentId);
    if (!run) return false;
    this.halt(agentId, reason);
    await run.done;
    return true;
  }

  /** All of them end; `close` leaves them as pending work. */
  async stopAll(reason: Error): Promise<void> {
    const runs = [...this.runs.values()];
    for (const run of runs) run.stop(reason);
    await Promise.all(runs.map(({ done }) => done));
  }

  /** The call that began an agent is answered at once, and the agent works on. */
  promote(agentId: string): boolean {
    const task = this.find(agentId);
    const run = this.runs.get(agentId);
    if (!run || task?.mode !== 'sync') return false;
    this.parts.log.append({ note: 'agent.changed', data: { agentId, mode: 'background' } });
    this.dropHeaders(agentId);
    run.promote();
    this.emitChange();
    return true;
  }

  /**
   * Gives an agent a message: it takes it up when it is done with the one before, and works again if it had ended. False
   * for one that was stopped, that ended so long ago that its conversation is gone, or that is not known.
   */
  async message(agentId: string, text: string): Promise<boolean> {
    const { log, clock } = this.parts;
    const task = this.find(agentId);
    if (!task || task.status === 'cancelled' || task.isForgotten) return false;
    const messaged = { note: 'agent.messaged', data: { agentId, messageId: clock.newId(), text } } as const;
    const resumedAt = clock.timestamp();
    const again: Draft = {
      note: 'agent.changed',
      data: { agentId, status: 'running', mode: 'background', isNotified: false, resumedAt },
    };
    log.append(messaged, ...(task.status === 'running' ? [] : [again]));
    await log.stored();
    this.runIfLeft(agentId);
    return true;
  }

  /** Removes an agent that has ended. */
  async remove(agentId: string): Promise<boolean> {
    const { log } = this.parts;
    const task = this.find(agentId);
    if (!task || task.status === 'running') return false;
    log.append({ note: 'agent.removed', data: { agentId } });
    await log.stored();
    this.emitChange();
    return true;
  }

  /** What an agent has to read of those it began, of which it has not read yet. */
  noticesFor(parentAgentId: string | undefined): readonly Draft[] {
    return this.unread(parentAgentId).map(noticeOf);
  }

  private unread(parentAgentId: string | undefined): readonly AgentTask[] {
    return this.tasks.filter(
      (task) =>
        task.parentAgentId === parentAgentId &&
        task.mode === 'background' &&
        task.status !== 'running' &&
        !task.isNotified,
    );
  }

  /** An agent of the root's has ended, and not because users wanted nothing more of it. */
  get hasNewsForRoot(): boolean {
    return this.unread(undefined).some(({ status }) => status !== 'cancelled');
  }

  /** Some agent that this one began is at work. */
  hasChildren(parentAgentId: string | undefined): boolean {
    return [...this.runs.keys()].some((agentId) => this.find(agentId)?.parentAgentId === parentAgentId);
  }

  /** What the agent of this id works on now. */
  interactionOf(agentId: string | undefined): Interaction | undefined {
    return agentId === undefined ? this.parts.rootInteraction() : this.runs.get(agentId)?.interaction;
  }

  /** Ends all that an agent began, and resolves when it has. */
  async stopChildren(agentId: string, reason: Error): Promise<void> {
    const children = this.tasks.filter(
      ({ parentAgentId, status }) => parentAgentId === agentId && status === 'running',
    );
    await Promise.all(children.map((child) => this.stop(child.agentId, reason)));
  }

  /** More may work at once than before. */
  refresh(): void {
    this.slots.refresh();
  }

  /** With all that it began. */
  private halt(agentId: string, reason: unknown): void {
    this.runs.get(agentId)?.stop(reason);
    for (const task of this.tasks)
      if (task.parentAgentId === agentId && task.status === 'running') this.halt(task.agentId, reason);
  }

  private run(task: AgentTask): void {
    const { parts, slots } = this;
    const run = new SubAgentRun(task, { ...parts, slots, siblings: this });
    this.runs.set(task.agentId, run);
    this.emitChange();
    run.start().then(
      (hasEnded) => this.left(task.agentId, hasEnded),
      (error: unknown) => {
        // A store that cannot be written ends the turn of the parent, which says so.
        if (!(error instanceof StoreError)) throw error;
        this.left(task.agentId, false);
      },
    );
  }

  private left(agentId: string, hasEnded: boolean): void {
    this.runs.delete(agentId);
    // A message may have come while it ended.
    if (hasEnded) this.runIfLeft(agentId);
    this.emitChange();
    this.wake();
    this.parts.changed();
  }

  private runIfLeft(agentId: string): void {
    const task = this.find(agentId);
    if (task?.status === 'running' && !this.runs.has(agentId)) this.run(task);
  }

  /** Headers of a prompt do not go with what works in the background, nor with what that waits for. */
  private dropHeaders(agentId: string): void {
    this.runs.get(agentId)?.interaction?.dropHeaders();
    for (const task of this.tasks) if (task.parentAgentId === agentId) this.dropHeaders(task.agentId);
  }

  private emitChange(): void {
    this.parts.log.emit({ type: 'session.background_tasks_changed', data: {} });
  }
}
