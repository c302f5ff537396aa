import { StoreError } from '@groundcrew/store';
import type { Clock } from '../clock.js';
import { TurnAborted } from '../interruption.js';
import type { AgentTask } from '../log/agent-task.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import type { Waits } from '../questions/waits.js';
import type { Interaction } from '../turn/interaction.js';
import { Slots } from './slots.js';
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
  'toolCallId' | 'agent' | 'name' | 'description' | 'prompt' | 'mode' | 'parentAgentId' | 'model'
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

  constructor(private readonly parts: SubAgentParts) {
    this.slots = new Slots(() => parts.settings().maxConcurrency);
  }

  /** Every agent that is known, in the order in which they began. */
  get tasks(): readonly AgentTask[] {
    return Object.values(this.parts.log.latest.tasks);
  }

  find(agentId: string): AgentTask | undefined {
    const { tasks } = this.parts.log.latest;
    return Object.hasOwn(tasks, agentId) ? tasks[agentId] : undefined;
  }

  /** The agent that a call has begun. */
  begunBy(toolCallId: string, parentAgentId: string | undefined): AgentTask | undefined {
    return this.tasks.find((task) => task.toolCallId === toolCallId && task.parentAgentId === parentAgentId);
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
    for (const task of this.tasks)
      if (task.status === 'running' && !this.runs.has(task.agentId)) this.run(task);
  }

  /** Closes what another process had left: nobody goes on with it. */
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
    run.promote();
    this.tell();
    return true;
  }

  /** Gives an agent a message: it takes it up when it is done with the one before, and works again if it had ended. */
  async message(agentId: string, text: string): Promise<boolean> {
    const { log, clock } = this.parts;
    const task = this.find(agentId);
    if (!task || task.status === 'cancelled') return false;
    const messageId = clock.newId();
    log.append({ note: 'agent.messaged', data: { agentId, messageId, text } });
    if (!this.runs.has(agentId))
      log.append({
        note: 'agent.changed',
        data: { agentId, status: 'running', mode: 'background', isNotified: false },
      });
    await log.stored();
    const now = this.find(agentId);
    if (now && !this.runs.has(agentId)) this.run(now);
    return true;
  }

  /** Forgets an agent that has ended. */
  async remove(agentId: string): Promise<boolean> {
    const { log } = this.parts;
    const task = this.find(agentId);
    if (!task || task.status === 'running') return false;
    log.append({ note: 'agent.removed', data: { agentId } });
    await log.stored();
    this.tell();
    return true;
  }

  /** What an agent has to read of those it began, of which it has not heard yet. */
  noticesFor(parentAgentId: string | undefined): readonly Draft[] {
    return this.tasks
      .filter(
        (task) =>
          task.parentAgentId === parentAgentId &&
          task.mode === 'background' &&
          task.status !== 'running' &&
          !task.isNotified,
      )
      .map(noticeOf);
  }

  /** Some agent that this one began is at work. */
  hasChildren(parentAgentId: string | undefined): boolean {
    return [...this.runs.keys()].some((agentId) => this.find(agentId)?.parentAgentId === parentAgentId);
  }

  /** What the agent of this id works on now. */
  interactionOf(agentId: string | undefined): Interaction | undefined {
    return agentId === undefined ? this.parts.rootInteraction() : this.runs.get(agentId)?.interaction;
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
    this.tell();
    run.start().then(
      () => this.left(task.agentId),
      (error: unknown) => {
        // A store that cannot be written ends the turn of the parent, which says so.
        if (!(error instanceof StoreError)) throw error;
        this.left(task.agentId);
      },
    );
  }

  private left(agentId: string): void {
    this.runs.delete(agentId);
    this.tell();
    this.wake();
    this.parts.changed();
  }

  private tell(): void {
    this.parts.log.emit({ type: 'session.background_tasks_changed', data: {} });
  }
}
