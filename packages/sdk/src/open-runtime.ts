import type { Notifications, SessionEvent, Told } from '@groundcrew/protocol';
import type { ClientOptions } from './client-options.js';
import { GroundcrewError, toError } from './errors.js';
import { Link } from './link.js';
import type { Listeners } from './listeners.js';
import { OpenSessions } from './open-sessions.js';
import type { Report } from './report.js';
import { Session } from './session.js';
import type { ResumeSessionOptions } from './session-options.js';
import { sessionParams } from './session-params.js';
import type { TraceContext } from './trace.js';

/** That a session came, changed or went, whoever's it is. */
export type SessionLifecycleEvent = Told<Notifications['session.lifecycle']>;

/** What a runtime is opened with. */
export interface OpenRuntimeOptions {
  readonly client: ClientOptions;
  readonly lifecycle: Listeners<SessionLifecycleEvent>;
  readonly report: Report;
  /** It did not start, or it is gone. */
  onEnd(runtime: OpenRuntime): void;
}

/** A runtime that is being started or is there, and the sessions this client has opened in it. */
export class OpenRuntime {
  /** Rejects when the runtime did not start. */
  readonly link: Promise<Link>;
  private readonly sessions = new OpenSessions();
  private readonly stopping = new AbortController();
  private listensOn: number | undefined;

  constructor(private readonly options: OpenRuntimeOptions) {
    this.link = Link.open(
      options.client,
      {
        onRequest: async (method, params, call) => this.sessions.answer(method, params, call.signal),
        onNotification: (method, params) => this.hear(method, params),
      },
      this.stopping.signal,
    );
    this.link.then(
      (link) => this.watch(link),
      () => options.onEnd(this),
    );
  }

  get port(): number | undefined {
    return this.listensOn;
  }

  /** Listens before it asks: the first events may come with the answer. */
  async open(
    method: 'session.create' | 'session.resume',
    sessionId: string,
    options: ResumeSessionOptions,
  ): Promise<Session> {
    const params = sessionParams(options);
    const link = await this.link;
    const trace = await this.traceContext();
    const session: Session = new Session({
      sessionId,
      options,
      report: this.options.report,
      call: (name, values, signal) => link.call(name, values, signal),
      traceContext: () => this.traceContext(),
      leave: (signal) => this.leave(session, link, signal),
    });
    this.sessions.add(session);
    try {
      session.opened(await link.call(method, { ...params, ...trace, sessionId }));
      return session;
    } catch (error) {
      this.sessions.remove(session);
      throw error;
    }
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

  private watch(link: Link): void {
    this.listensOn = link.port;
    void link.lost.then((reason) => {
      this.sessions.endAll(reason);
      this.options.onEnd(this);
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
