import type { Methods, Result, SessionEvent } from '@groundcrew/protocol';
import type { NewAgentTask } from './task-options.js';
import type { Warnings } from './warnings.js';
import type { Call } from './wire.js';

/** A sub-agent and its work. */
export type AgentTask = Exclude<ListedTask, { readonly clientTaskId: string }>;

type ListedTask = Result<Methods['session.tasks.list']>['tasks'][number];

/** What tasks need of their session. */
interface TaskSession {
  readonly sessionId: string;
  events(signal?: AbortSignal): AsyncIterableIterator<SessionEvent>;
  getEvents(): Promise<readonly SessionEvent[]>;
}

/** The sub-agents of a session. */
export class SessionTasks {
  constructor(
    private readonly session: TaskSession,
    private readonly call: Call,
    private readonly warnings: Warnings,
  ) {}

  /** Every one that was begun and is not removed, the first first. */
  async list(): Promise<readonly AgentTask[]> {
    const { tasks } = await this.call('session.tasks.list', this.ref());
    return tasks.filter((task): task is AgentTask => !('clientTaskId' in task));
  }

  /** One of them; undefined when it is not known. */
  async get(id: string): Promise<AgentTask | undefined> {
    return (await this.list()).find((task) => task.id === id);
  }

  /** Begins an agent in the background, and resolves with its id. The session is idle when it has ended, too. */
  async start(task: NewAgentTask): Promise<string> {
    this.warnings.ofNames('task', task);
    return (await this.call('session.tasks.startAgent', { ...this.ref(), ...task })).agentId;
  }

  /** What an agent did last, as short lines, the newest last. */
  async progress(id: string): Promise<readonly string[]> {
    const { progress } = await this.call('session.tasks.getProgress', { ...this.ref(), id });
    return progress?.recentActivity.map(({ message }) => message) ?? [];
  }

  /** Ends an agent, and all that it began; false when it had ended. */
  async cancel(id: string): Promise<boolean> {
    return (await this.call('session.tasks.cancel', { ...this.ref(), id })).cancelled;
  }

  /** Ends every wait for an agent; false when there was none. */
  async promote(id: string): Promise<boolean> {
    return (await this.call('session.tasks.promoteToBackground', { ...this.ref(), id })).promoted;
  }

  /** Gives an agent a message; one that has ended works again. False for one that was stopped, or is not known. */
  async send(id: string, message: string): Promise<boolean> {
    return (await this.call('session.tasks.sendMessage', { ...this.ref(), id, message })).sent;
  }

  /** Forgets an agent that has ended; false when it has not. */
  async remove(id: string): Promise<boolean> {
    return (await this.call('session.tasks.remove', { ...this.ref(), id })).removed;
  }

  /** Resolves when no agent is at work any more. */
  async settled(signal?: AbortSignal): Promise<void> {
    await this.call('session.tasks.waitForPending', this.ref(), signal);
  }

  /**
   * The events of one agent, from its first on, until it ends, the session is left or the signal fires. Those of agents
   * that it began are theirs.
   *
   * @example
   * for await (const event of session.tasks.events(id)) console.log(event.type);
   */
  async *events(id: string, signal?: AbortSignal): AsyncGenerator<SessionEvent, void, undefined> {
    const live = this.session.events(signal);
    try {
      const seen = new Set<string>();
      const task = await this.get(id);
      for (const event of await this.session.getEvents()) {
        seen.add(event.id);
        if (event.agentId === id) yield event;
      }
      // One that had ended before the stored events were read has no more to come.
      if (task?.status !== 'running') return;
      for await (const event of live) {
        if (event.agentId !== id || seen.has(event.id)) {
          if (isEndOf(event, id)) return;
          continue;
        }
        yield event;
        if (isEndOf(event, id)) return;
      }
    } finally {
      await live.return?.();
    }
  }

  private ref(): { readonly sessionId: string } {
    return { sessionId: this.session.sessionId };
  }
}

function isEndOf({ type, agentId }: SessionEvent, id: string): boolean {
  return agentId === id && (type === 'subagent.completed' || type === 'subagent.failed');
}
