import type { Notifications, SessionEvent, Told } from '@groundcrew/protocol';
import { ErrorCode, RpcError } from '@groundcrew/rpc';
import type { ClientOptions } from './client-options.js';
import { GroundcrewError, toError } from './errors.js';
import { Link } from './link.js';
import type { Listeners } from './listeners.js';
import type { ModelRequests } from './model-requests.js';
import { OpenSessions } from './open-sessions.js';
import type { Report } from './report.js';
import { Session } from './session.js';
import type { SessionPlace } from './session-calls.js';
import type { ResumeSessionOptions } from './session-options.js';
import { reopeningParams, sessionParams } from './session-params.js';
import type { TraceContext } from './trace.js';
import type { Warnings } from './warnings.js';
import type { Call } from './wire.js';

/** That a session came, changed or went, whoever's it is. */
export type SessionLifecycleEvent = Told<Notifications['session.lifecycle']>;

/** What a runtime is opened with. */
export interface OpenRuntimeOptions {
  readonly client: ClientOptions;
  readonly lifecycle: Listeners<SessionLifecycleEvent>;
  readonly report: Report;
  readonly warnings: Warnings;
  /** It did not start, or it is gone. */
  onEnd(runtime: OpenRuntime): void;
  /** The connection was lost while a prompt or an answer was on its way. Called after `onEnd`. */
  onInterrupted(session: Session, reason: GroundcrewError): void;
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
  private readonly stopping = new AbortController();
  private listensOn: number | undefined;
  private carried: Promise<ModelRequests> | undefined;

  constructor(private readonly options: OpenRuntimeOptions) {
    const opened = Link.open(
      options.client,
      {
        onRequest: async (method, params, call) =>
          method.startsWith('llmInference.')
            ? this.carry(method, params)
            : this.sessions.answer(method, params, call.signal),
        onNotification: (method, params) => this.hear(method, params),
      },
      this.stopping.signal,
    );
    this.link = options.client.onModelRequest ? opened.then((link) => this.offerToCarry(link)) : opened;
    this.link.then(
      (link) => this.watch(link),
      () => options.onEnd(this),
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
      place: this.place(() => session, {
        call: (name, values, signal) => link.call(name, values, signal),
        leave: (signal) => this.leave(session, link, signal),
      }),
    });
    await this.attach(session, { method, params, isContinued: options.continuePendingWork === true });
    return session;
  }

  /** Goes on with a session whose connection was lost; if it cannot be opened here, it has ended for that reason. */
  adopt(session: Session, reason: GroundcrewError): void {
    const params = reopeningParams(session.options);
    const opened = this.attach(session, { method: 'session.resume', params, isContinued: true }).catch(
      (cause: unknown) => {
        const lost = new GroundcrewError(reason.kind, reason.message, { cause });
        session.end(lost);
        throw lost;
      },
    );
    const place = this.place(() => session, {
      call: async (name, values, signal) => (await opened).call(name, values, signal),
      leave: (signal) =>
        opened.then(
          (link) => this.leave(session, link, signal),
          () => undefined, // nothing is left to leave
        ),
    });
    session.move(place, opened);
  }

  /** The session is gone for all who have it. */
  forget(sessionId: string): void {
    this.sessions.forget(sessionId);
  }

  /** Leaves all sessions, then ends the runtime if it is ours. Resolves with what went wrong on the way. */
  async stop(): Promise<Error[]> {
    const limit = AbortSignal.timeout(goodbyeMs);
    const left = await Promise.allSettled(this.sessions.all.map((session) => session.disconnect(limit)));
    const closed = await Promise.allSettled([this.link.then((link) => link.close())]);
    return [...left, ...closed].flatMap((each) => (each.status === 'rejected' ? [toError(each.reason)] : []));
  }

  /** Ends it at once, even while it starts. */
  async kill(): Promise<void> {
    this.stopping.abort(new GroundcrewError('connection_lost', 'The client was stopped'));
    await this.link.then((link) => link.kill()).catch(() => undefined);
  }

  /** Sessions open once it is settled who makes the model calls. */
  private async offerToCarry(link: Link): Promise<Link> {
    try {
      await link.call('llmInference.setProvider', {});
      return link;
    } catch (error) {
      await link.kill();
      throw error;
    }
  }

  private async carry(method: string, params: unknown): Promise<object> {
    const { onModelRequest } = this.options.client;
    if (!onModelRequest) throw new RpcError(ErrorCode.methodNotFound, `Unhandled method ${method}`);
    const link = await this.link;
    this.carried ??= import('./model-requests.js').then(
      ({ ModelRequests }) =>
        new ModelRequests(onModelRequest, (name, values, signal) => link.call(name, values, signal)),
    );
    return (await this.carried).hear(method, params);
  }

  private place(
    session: () => Session,
    link: { readonly call: Call; leave(signal?: AbortSignal): Promise<void> },
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

  private watch(link: Link): void {
    this.listensOn = link.port;
    void link.lost.then((reason) => {
      const canReturn = !link.isOwned && !this.stopping.signal.aborted;
      const interrupted = this.sessions.all.filter(({ isInDoubt }) => canReturn && isInDoubt);
      for (const session of interrupted) this.sessions.remove(session);
      this.sessions.endAll(reason);
      this.options.onEnd(this);
      for (const session of interrupted) this.options.onInterrupted(session, reason);
    });
  }

  private async leave(session: Session, link: Link, signal: AbortSignal | undefined): Promise<void> {
    const { sessionId } = session;
    try {
      if (this.sessions.isNewest(session)) await link.call('session.destroy', { sessionId }, signal);
    } finally {
      this.sessions.remove(session);
    }
  }

  /** What the runtime tells is taken at its word: events of every kind pass, known here or not. */
  private hear(method: string, params: unknown): void {
    if (method === 'session.event') {
      const { sessionId, event } = params as { readonly sessionId: string; readonly event: SessionEvent };
      this.sessions.hear(sessionId, event);
    } else if (method === 'session.lifecycle') this.options.lifecycle.tell(params as SessionLifecycleEvent);
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
