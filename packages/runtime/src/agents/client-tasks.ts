import { createHash, randomUUID } from 'node:crypto';
import {
  type ClientTask,
  type ClientTaskOwner,
  type ClientTaskUpdate,
  isOpenTask,
  updatedTask,
  withStatus,
  workedMs,
} from '../log/client-task.js';
import type { Draft, EphemeralDraft, SessionLog } from '../log/session-log.js';
import type { SessionState } from '../log/state.js';
import { OneAtATime } from '../one-at-a-time.js';
import { ownEntry } from '../own-entry.js';
import type { AskedClient } from '../questions/asked-client.js';

/** The session whose clients work on something. */
interface TaskSession {
  readonly sessionId: string;
  readonly audience: { get(clientId: string): AskedClient | undefined };
  readonly openLog: SessionLog | undefined;
  state(): Promise<SessionState>;
  record(...drafts: readonly Draft[]): Promise<unknown>;
  emit(draft: EphemeralDraft): Promise<string>;
}

/** A request about a client's task that cannot be done. */
class ClientTaskRefused extends Error {
  override readonly name = 'ClientTaskRefused';
}

/** Who registers a task, and by which connection. */
export type TaskOwner = Omit<ClientTaskOwner, 'joinId'> & { readonly clientId: string };

const mostTasks = 1000;
const cancelMs = 30_000;

/** What clients work on outside the runtime: they say how it goes, and the session keeps it. */
export class ClientTasks {
  /** The connection by which a task's owner is here; what a process before this one had bound is bound no more. */
  private readonly bound = new Map<string, string>();
  private readonly cancelling = new Map<string, Promise<boolean>>();
  private readonly writing = new OneAtATime();

  constructor(private readonly session: TaskSession) {}

  /** Makes a task, or finds the owner's own of that name; one whose owner had left is bound again. Throws ClientTaskRefused. */
  register(
    owner: TaskOwner,
    wish: Pick<ClientTask, 'clientTaskId' | 'description' | 'displayName' | 'cancellable'>,
    expectedSequence?: number,
  ) {
    return this.writing.run('', async () => {
      const tasks = await this.all();
      const known = tasks.find(
        (task) => task.clientTaskId === wish.clientTaskId && task.owner.participantId === owner.participantId,
      );
      const { clientId, ...rest } = owner;
      if (!known) return this.create(rest, { wish, clientId, expectedSequence, count: tasks.length });
      if (expectedSequence !== undefined && expectedSequence !== known.sequence)
        throw new ClientTaskRefused(
          `The task '${known.clientTaskId}' is at sequence ${known.sequence}, not ${expectedSequence}`,
        );
      if (!isOpenTask(known) || this.bound.get(known.id) === clientId)
        return { task: this.shown(known), created: false, reclaimed: false };
      if (this.isHere(known))
        throw new ClientTaskRefused(`The task '${known.clientTaskId}' belongs to another connection`);
      const now = new Date().toISOString();
      const again = withStatus(this.orphaned(known), 'running', now);
      const joined = { ...again, owner: { ...rest, joinId: randomUUID() }, reclaimedAt: now, ...wish };
      this.bound.set(known.id, clientId);
      await this.keep(joined);
      return { task: this.shown(joined), created: false, reclaimed: true };
    });
  }

  /** Throws ClientTaskRefused: for another's task, one that has ended, and a number that was used for something else. */
  update(
    clientId: string,
    id: string,
    given: { readonly sequence: number; readonly update: ClientTaskUpdate },
  ) {
    return this.writing.run('', async () => {
      const task = ownEntry((await this.session.state()).clientTasks ?? {}, id);
      if (!task) throw new ClientTaskRefused(`There is no task ${id} of a client`);
      const { sequence, update } = given;
      const lastUpdate = createHash('sha256').update(JSON.stringify(update)).digest('base64url');
      if (this.bound.get(id) !== clientId)
        throw new ClientTaskRefused(`The task ${id} belongs to another connection; 'register' binds it`);
      if (sequence === task.sequence && lastUpdate === task.lastUpdate)
        return { task: this.shown(task), applied: false, duplicate: true };
      if (!isOpenTask(task)) throw new ClientTaskRefused(`The task ${id} has ended: it is ${task.status}`);
      if (sequence <= task.sequence)
        throw new ClientTaskRefused(
          `The task ${id} is at sequence ${task.sequence}: an update has a higher one than ${sequence}`,
        );
      const next = { ...updatedTask(task, update, new Date().toISOString()), sequence, lastUpdate };
      await this.keep(next);
      return { task: this.shown(next), applied: true, duplicate: false };
    });
  }

  /** The clients' tasks, in the order in which they were registered. */
  async list() {
    return (await this.all()).map((task) => this.shown(task));
  }

  /** What its owner said last; undefined when it is not known. */
  async progress(id: string) {
    const task = ownEntry((await this.session.state()).clientTasks ?? {}, id);
    if (!task) return undefined;
    const { status } = this.seen(task);
    const { sequence, updatedAt, phase, percentage, activity } = task;
    const last = activity.at(-1)?.message;
    return {
      type: 'client' as const,
      status,
      sequence,
      updatedAt,
      recentActivity: [...activity],
      ...(phase !== undefined && { phase }),
      ...(percentage !== undefined && { percentage }),
      ...(last !== undefined && { lastMessage: last }),
    };
  }

  /** Asks its owner to stop; undefined when it is no task of a client's, false when the owner does not confirm it. */
  async cancel(id: string, reason = 'cancel_requested'): Promise<boolean | undefined> {
    const task = ownEntry((await this.session.state()).clientTasks ?? {}, id);
    if (!task) return undefined;
    const underWay = this.cancelling.get(id);
    if (underWay !== undefined) return underWay;
    const asked = this.ask(task, reason).finally(() => this.cancelling.delete(id));
    this.cancelling.set(id, asked);
    return asked;
  }

  /** The session ends for all: owners are asked to stop what they do for it. */
  async shutDown(): Promise<void> {
    const open = (await this.all()).filter((task) => isOpenTask(task) && this.isHere(task));
    await Promise.all(open.map(({ id }) => this.cancel(id, 'session_shutdown')));
  }

  /** Removes one that has ended or has no owner; undefined when it is no task of a client's. */
  async remove(id: string): Promise<boolean | undefined> {
    const task = ownEntry((await this.session.state()).clientTasks ?? {}, id);
    if (!task) return undefined;
    if (isOpenTask(task) && this.isHere(task)) return false;
    this.bound.delete(id);
    await this.session.record({ note: 'task.removed', data: { id } });
    await this.announce();
    return true;
  }

  /** A client has left: what it worked on has no owner now. */
  left(clientId: string): void {
    const ids = [...this.bound].flatMap(([id, owner]) => (owner === clientId ? [id] : []));
    for (const id of ids) this.bound.delete(id);
    // A session that is not in memory finds them without their owner all the same.
    const log = this.session.openLog;
    const left = ids.flatMap((id) => ownEntry(log?.latest.clientTasks ?? {}, id) ?? []).filter(isOpenTask);
    if (!log || left.length === 0) return;
    log.append(...left.map((task) => ({ note: 'task.kept' as const, data: this.orphaned(task) })));
    log.emit({ type: 'session.background_tasks_changed', data: {} });
  }

  private async create(
    owner: Omit<ClientTaskOwner, 'joinId'>,
    given: {
      readonly wish: Pick<ClientTask, 'clientTaskId' | 'description' | 'displayName' | 'cancellable'>;
      readonly clientId: string;
      readonly expectedSequence: number | undefined;
      readonly count: number;
    },
  ) {
    const { wish, clientId, expectedSequence = 0, count } = given;
    if (expectedSequence !== 0)
      throw new ClientTaskRefused(`There is no task '${wish.clientTaskId}' at sequence ${expectedSequence}`);
    if (count >= mostTasks)
      throw new ClientTaskRefused(`The session has ${count} tasks of clients; remove some that have ended`);
    const now = new Date().toISOString();
    const task: ClientTask = {
      id: `client-${randomUUID()}`,
      ...wish,
      status: 'running',
      owner: { ...owner, joinId: randomUUID() },
      startedAt: now,
      updatedAt: now,
      activeMs: 0,
      activeStartedAt: now,
      sequence: 0,
      activity: [],
    };
    this.bound.set(task.id, clientId);
    await this.keep(task);
    return { task: this.shown(task), created: true, reclaimed: false };
  }

  private async ask({ id, clientTaskId, cancellable }: ClientTask, reason: string): Promise<boolean> {
    const owner = this.ownerOf(id);
    if (!owner || !cancellable) return false;
    const { sessionId } = this.session;
    const params = { sessionId, id, clientTaskId, cancellationId: randomUUID(), reason };
    const answer = await owner
      .ask('tasks.cancel', params, AbortSignal.timeout(cancelMs))
      .catch(() => ({ cancelled: false }));
    if (!answer.cancelled) return false;
    await this.writing.run('', async () => {
      const task = ownEntry((await this.session.state()).clientTasks ?? {}, id);
      if (task && isOpenTask(task))
        await this.keep(updatedTask(task, { kind: 'cancelled', reason }, new Date().toISOString()));
    });
    return true;
  }

  private async all(): Promise<readonly ClientTask[]> {
    return Object.values((await this.session.state()).clientTasks ?? {});
  }

  private async keep(...tasks: readonly ClientTask[]): Promise<void> {
    await this.session.record(...tasks.map((task) => ({ note: 'task.kept' as const, data: task })));
    await this.announce();
  }

  private async announce(): Promise<void> {
    await this.session.emit({ type: 'session.background_tasks_changed', data: {} });
  }

  private ownerOf(id: string): AskedClient | undefined {
    const clientId = this.bound.get(id);
    return clientId === undefined ? undefined : this.session.audience.get(clientId);
  }

  private isHere({ id }: ClientTask): boolean {
    return this.ownerOf(id) !== undefined;
  }

  private orphaned(task: ClientTask): ClientTask {
    return withStatus(task, 'orphaned', new Date().toISOString());
  }

  /** A process that was killed could not write that owners had left; what they did since is not known. */
  private seen(task: ClientTask): ClientTask {
    if (!isOpenTask(task) || task.status === 'orphaned' || this.isHere(task)) return task;
    return withStatus(task, 'orphaned', task.updatedAt);
  }

  private shown(kept: ClientTask) {
    const task = this.seen(kept);
    const { activity: _, lastUpdate: __, phase: ___, percentage: ____, activeMs: _____, ...rest } = task;
    const { cancellable, owner, ...facts } = rest;
    const isHere = this.isHere(task);
    return {
      type: 'client' as const,
      ...facts,
      owner: {
        ...owner,
        presence: isHere ? ('connected' as const) : ('disconnected' as const),
        ...(!isHere && task.orphanedAt !== undefined && { disconnectedAt: task.orphanedAt }),
      },
      activeTimeMs: workedMs(task, new Date().toISOString()),
      executionMode: 'background' as const,
      canCancel: cancellable && isHere && isOpenTask(task),
    };
  }
}
