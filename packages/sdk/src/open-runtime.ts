import type { NotificationParams, Notifications, SessionEvent } from '@groundcrew/protocol';
import { ErrorCode, RpcError } from '@groundcrew/rpc';
import { type ClientOptions, reconnectTimeout } from './client-options.js';
import { GroundcrewError, toError } from './errors.js';
import type { Report } from './handler-failure.js';
import { Link } from './link.js';
import type { Listeners } from './listeners.js';
import type { ModelRequests } from './model-requests.js';
import { OpenSessions } from './open-sessions.js';
import { isFinalForConnection, isFinalForSession, untilReached } from './reconnect.js';
import { Session } from './session.js';
import type { SessionPlace } from './session-calls.js';
import type { SessionFilesAnswers } from './session-files.js';
import type { ResumeSessionOptions } from './session-options.js';
import { reopeningParams, sessionParams } from './session-params.js';
import type { TraceContext } from './trace.js';
import type { Warnings } from './warnings.js';
import type { Call } from './wire.js';

/** A session came, changed or went, of any client. */
export type SessionLifecycleEvent = NotificationParams<Notifications['session.lifecycle']>;

/** What a runtime is opened with. */
export interface OpenRuntimeOptions {
  readonly client: ClientOptions;
  readonly lifecycle: Listeners<SessionLifecycleEvent>;
  readonly report: Report;
  readonly warnings: Warnings;
  /** Given when the connection was lost before: the runtime is reached again. */
  readonly lost?: LostConnection;
  /** It did not start, or it is gone. */
  onEnd(runtime: OpenRuntime, end: RuntimeEnd): void;
}

/** A connection that was lost. */
export interface LostConnection {
  readonly reason: GroundcrewError;
  /** How long it is tried again, in milliseconds. */
  readonly timeout: number;
}

/** How a runtime ended for this client. */
export interface RuntimeEnd {
  /** Undefined when it did not start, or was stopped: its callers know. */
  readonly reason?: GroundcrewError;
  /** Whether this client may find it again. */
  readonly canReturn: boolean;
  /** It has said before that it would end: no call is lost. */
  readonly isPlanned?: boolean;
  /** The sessions that go on there. */
  readonly sessions: readonly Session[];
}

interface Opening {
  readonly method: 'session.create' | 'session.resume';
  readonly params: ReturnType<typeof sessionParams>;
  /** Whether open questions are put to the session's handlers. */
  readonly isContinued: boolean;
}

/** A runtime that is being started or is there, and the sessions this client has opened in it. */
export class OpenRuntime {
  /** Rejects when the runtime did not start. */
  readonly link: Promise<Link>;
  private readonly sessions = new OpenSessions();
  /** The app has stopped it. */
  isStopping = false;
  private readonly stopping = new AbortController();
  private listensOn: number | undefined;
  private carried: Promise<ModelRequests> | undefined;
  private stored: Promise<SessionFilesAnswers> | undefined;
  /** Sessions of a lost connection that are not open here yet. */
  private readonly returning = new Set<Session>();
  private isReached = false;
  private hasMoved = false;

  constructor(private readonly options: OpenRuntimeOptions) {
    const { signal } = this.stopping;
    this.link = options.lost ? this.reachAgain(options.lost) : this.reach(signal);
    this.link.then(
      (link) => this.watch(link),
      () => options.onEnd(this, { canReturn: false, sessions: [] }),
    );
  }

  get port(): number | undefined {
    return this.listensOn;
  }

  /** Makes or resumes a session. */
  async open(
    method: 'session.create' | 'session.resume',
    sessionId: string,
    options: ResumeSessionOptions,
  ): Promise<Session> {
    const params = sessionParams(options);
    const link = await this.link;
    const session: Session = new Session({
      sessionId,
      options,
      report: this.options.report,
      warnings: this.options.warnings,
      isNew: method === 'session.create',
      place: this.place(() => session, {
        call: (name, values, signal) => link.call(name, values, signal),
        detach: (signal) => this.detach(session, link, signal),
      }),
    });
    await this.attach(session, { method, params, isContinued: options.continuePendingWork === true });
    return session;
  }

  /**
   * Goes on with a session whose connection was lost; if it cannot be opened here, it has ended for that reason.
   * Resolves with the reason when it has ended, whenever that is known.
   */
  adopt(session: Session, lost: LostConnection): Promise<GroundcrewError | undefined> {
    this.returning.add(session);
    const opened = this.reopen(session, lost).finally(() => this.returning.delete(session));
    const place = this.place(() => session, {
      call: async (name, values, signal) => (await opened).call(name, values, signal),
      // Before there is a connection, there is nothing to leave.
      detach: async (signal) => {
        if (!this.isReached) return;
        await opened.then(
          (link) => this.detach(session, link, signal),
          () => undefined,
        );
      },
    });
    return session.move(place, opened).catch((error: unknown) => {
      // If the connection was lost once more, the next one has taken the session.
      if (!session.isOn(place)) return undefined;
      session.end(error as GroundcrewError); // `reopen` rejects with nothing else
      return error as GroundcrewError;
    });
  }

  /** The session is gone for all who have it. */
  removeSession(sessionId: string): void {
    this.sessions.removeSession(sessionId);
  }

  /** Leaves all sessions, then ends the runtime if it is ours. Resolves with what went wrong on the way. */
  async stop(): Promise<Error[]> {
    this.isStopping = true;
    if (this.options.lost && !this.isReached) {
      await this.kill();
      return [];
    }
    const limit = AbortSignal.timeout(goodbyeMs);
    limit.addEventListener('abort', () => this.giveUp(), { once: true });
    const left = await Promise.allSettled(this.sessions.all.map((session) => session.disconnect(limit)));
    const closed = await Promise.allSettled([this.link.then((link) => link.close())]);
    return [...left, ...closed].flatMap((each) => (each.status === 'rejected' ? [toError(each.reason)] : []));
  }

  /** A runtime that has not even greeted is waited for no longer. */
  private giveUp(): void {
    if (this.isReached) return;
    const seconds = goodbyeMs / 1000;
    const text = `The runtime has not answered, and ${seconds} seconds after the client was stopped it was given up`;
    this.stopping.abort(new GroundcrewError('connection_lost', text));
  }

  /** Ends it at once, even while it starts. */
  async kill(): Promise<void> {
    this.isStopping = true;
    this.stopping.abort(new GroundcrewError('connection_lost', 'The client was stopped'));
    await this.link.then((link) => link.kill()).catch(() => undefined);
  }

  private async reach(signal: AbortSignal): Promise<Link> {
    const link = await Link.open(
      this.options.client,
      {
        onRequest: async (method, params, call) =>
          this.ofRuntime(method, params) ?? this.sessions.answer(method, params, call.signal),
        onNotification: (method, params) => this.receive(method, params),
      },
      signal,
    );
    return this.offer(link);
  }

  private async reachAgain({ timeout, reason }: LostConnection): Promise<Link> {
    const { signal } = this.stopping;
    try {
      return await untilReached(
        (limit) => this.reach(limit),
        { timeout, isFinal: isFinalForConnection },
        signal,
      );
    } catch (cause) {
      signal.throwIfAborted();
      throw new GroundcrewError(reason.kind, notReached(reason, timeout, cause), { cause });
    }
  }

  /** What the runtime asks of its client for all sessions; undefined for what one session is asked. */
  private ofRuntime(method: string, params: unknown): Promise<unknown> | undefined {
    if (method.startsWith('llmInference.')) return this.carry(method, params);
    return method.startsWith('sessionFs.') ? this.store(method, params) : undefined;
  }

  /** Sessions open once it is settled who makes the model calls, and who stores files. */
  private async offer(link: Link): Promise<Link> {
    const { onModelRequest, sessionFs } = this.options.client;
    try {
      if (sessionFs) {
        const { sessionStatePath, initialCwd = '', conventions = 'posix', sqlite } = sessionFs;
        const capabilities = sqlite ? { capabilities: { sqlite } } : {};
        await link.call('sessionFs.setProvider', {
          initialCwd,
          sessionStatePath,
          conventions,
          ...capabilities,
        });
      }
      if (onModelRequest) await link.call('llmInference.setProvider', {});
      return link;
    } catch (error) {
      await link.kill();
      throw error;
    }
  }

  private async store(method: string, params: unknown): Promise<unknown> {
    const { sessionFs } = this.options.client;
    if (!sessionFs) throw new RpcError(ErrorCode.methodNotFound, `Unhandled method ${method}`);
    this.stored ??= import('./session-files.js').then(
      ({ SessionFilesAnswers }) => new SessionFilesAnswers(sessionFs),
    );
    return (await this.stored).answer(method, params);
  }

  private async carry(method: string, params: unknown): Promise<object> {
    const { onModelRequest } = this.options.client;
    if (!onModelRequest) throw new RpcError(ErrorCode.methodNotFound, `Unhandled method ${method}`);
    const link = await this.link;
    this.carried ??= import('./model-requests.js').then(
      ({ ModelRequests }) =>
        new ModelRequests(onModelRequest, (name, values, signal) => link.call(name, values, signal)),
    );
    return (await this.carried).receive(method, params);
  }

  private place(
    session: () => Session,
    link: { readonly call: Call; detach(signal?: AbortSignal): Promise<void> },
  ): SessionPlace {
    return {
      ...link,
      traceContext: () => this.traceContext(),
      mayAnswer: (requestId) => this.sessions.mayAnswer(session(), requestId),
    };
  }

  /** Listens before it asks: the first events may come with the answer. */
  private async attach(session: Session, { method, params, isContinued }: Opening): Promise<Link> {
    const link = await this.link;
    const trace = await this.traceContext();
    this.sessions.add(session);
    try {
      const { sessionId } = session;
      const opened = await link.call(method, { ...params, ...trace, sessionId });
      const kind = method === 'session.create' ? 'create' : 'resume';
      this.options.warnings.ofRuntime(kind, session.options, opened.warnings ?? []);
      session.opened(opened, { isContinued });
      return link;
    } catch (error) {
      this.sessions.remove(session);
      throw error;
    }
  }

  private async reopen(session: Session, { reason, timeout }: LostConnection): Promise<Link> {
    const link = await this.link;
    try {
      const attempt = () => this.attachAgain(session);
      await untilReached(attempt, { timeout, isFinal: isFinalForSession }, this.stopping.signal);
      return link;
    } catch (cause) {
      if (cause instanceof GroundcrewError) throw cause;
      throw new GroundcrewError(reason.kind, notOpened(reason, cause), { cause });
    }
  }

  /** One that was left while nothing was connected is not opened again. */
  private async attachAgain(session: Session): Promise<void> {
    if (session.isOver) return;
    const params = reopeningParams(session.options);
    await this.attach(session, { method: 'session.resume', params, isContinued: true });
  }

  private watch(link: Link): void {
    this.listensOn = link.port;
    this.isReached = true;
    void link.lost.then((reason) => {
      if (this.hasMoved) return;
      const canReturn = this.canReturn(link);
      const sessions = canReturn ? this.takeSessions() : [];
      this.sessions.endAll(reason);
      // A child that closed its end of the connection is of no use.
      if (link.isOwned) void link.kill();
      this.options.onEnd(this, { canReturn, sessions, ...(!this.isStopping && { reason }) });
    });
  }

  private canReturn(link: Link): boolean {
    return !link.isOwned && !this.isStopping && reconnectTimeout(this.options.client) > 0;
  }

  /** The sessions that go on elsewhere. */
  private takeSessions(): readonly Session[] {
    const all = [...new Set([...this.sessions.all, ...this.returning])];
    const sessions = all.filter(({ isOpen }) => isOpen);
    for (const session of sessions) this.sessions.remove(session);
    return sessions;
  }

  /** The runtime is about to end: sessions go on at another node, and what was asked here is still answered. */
  private async moveOn(): Promise<void> {
    const link = await this.link;
    if (this.hasMoved || !this.canReturn(link)) return;
    this.hasMoved = true;
    const sessions = this.takeSessions();
    const reason = new GroundcrewError('connection_lost', 'The runtime is about to end');
    this.options.onEnd(this, { canReturn: true, isPlanned: true, sessions, reason });
    await link.closeWhenIdle();
  }

  private async detach(session: Session, link: Link, signal: AbortSignal | undefined): Promise<void> {
    const { sessionId } = session;
    try {
      if (this.sessions.isNewest(session)) await link.call('session.destroy', { sessionId }, signal);
    } finally {
      this.sessions.remove(session);
    }
  }

  /** Events of the runtime are not checked: those of every kind pass, known here or not. */
  private receive(method: string, params: unknown): void {
    if (method === 'session.event') {
      const { sessionId, event } = params as { readonly sessionId: string; readonly event: SessionEvent };
      this.sessions.receive(sessionId, event);
    } else if (method === 'runtime.draining') void this.moveOn();
    else if (method === 'session.lifecycle') this.options.lifecycle.deliver(params as SessionLifecycleEvent);
  }

  private async traceContext(): Promise<TraceContext> {
    try {
      const { traceparent, tracestate } = (await this.options.client.getTraceContext?.()) ?? {};
      return {
        ...(traceparent !== undefined && { traceparent }),
        ...(tracestate !== undefined && { tracestate }),
      };
    } catch (error) {
      this.options.report({ handler: 'trace', name: 'getTraceContext' }, error);
      return {};
    }
  }
}

const goodbyeMs = 10_000;

function notReached(reason: GroundcrewError, timeout: number, cause: unknown): string {
  return `${reason.message}, and could not be reached again within ${timeout / 1000} s: ${toError(cause).message}`;
}

function notOpened(reason: GroundcrewError, cause: unknown): string {
  return `${reason.message}, and the session could not be opened again: ${toError(cause).message}`;
}
