import { randomUUID } from 'node:crypto';
import type { MethodName, Methods, ModelInfo, Params, Result } from '@groundcrew/protocol';
import {
  type ClientOptions,
  type ConnectionLost,
  checkReconnectTimeout,
  reconnectTimeout,
} from './client-options.js';
import { GroundcrewError } from './errors.js';
import { type Report, reporter } from './handler-failure.js';
import { Listeners } from './listeners.js';
import { filterParams, metadataFrom, type SessionListFilter, type SessionMetadata } from './metadata.js';
import {
  type LostConnection,
  OpenRuntime,
  type RuntimeEnd,
  type SessionLifecycleEvent,
} from './open-runtime.js';
import type { Session } from './session.js';
import type { ResumeSessionOptions, SessionOptions } from './session-options.js';
import { Warnings } from './warnings.js';

type LifecycleHandler = (event: SessionLifecycleEvent) => unknown;

/** An app's way to a runtime. Nothing starts before the first call, and parallel first calls start one runtime. */
export class Client implements AsyncDisposable {
  private readonly report: Report;
  private readonly lifecycle: Listeners<SessionLifecycleEvent>;
  private readonly warnings: Warnings;
  private current: OpenRuntime | undefined;
  /** Those that `stop` still waits for. */
  private readonly ending = new Set<OpenRuntime>();

  constructor(private readonly options: ClientOptions = {}) {
    this.warnings = new Warnings(options.onWarning);
    this.warnings.ofClient(options);
    checkReconnectTimeout(options);
    this.report = reporter(options.onHandlerError);
    this.lifecycle = new Listeners(({ type, sessionId }, thrown) =>
      this.report({ handler: 'lifecycle', name: type, sessionId }, thrown),
    );
  }

  /** The port of the runtime, once there is one that listens: others may connect to it. */
  get runtimePort(): number | undefined {
    return this.current?.port;
  }

  /** Starts or finds the runtime. Every other method does so by itself, and again after it was lost. */
  async start(): Promise<void> {
    await this.runtime().link;
  }

  /** Leaves all sessions, which stay stored, and ends what was started. Resolves with what went wrong on the way. */
  async stop(): Promise<Error[]> {
    const { current } = this;
    if (!current) return [];
    this.current = undefined;
    this.ending.add(current);
    try {
      return await current.stop();
    } finally {
      this.ending.delete(current);
    }
  }

  /** Ends the runtime at once, one that `stop` still waits for too; what ran stays as pending work. */
  async forceStop(): Promise<void> {
    const { current } = this;
    this.current = undefined;
    await Promise.all([...this.ending, ...(current ? [current] : [])].map((runtime) => runtime.kill()));
  }

  /** The same as `stop`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Makes a session and attaches this client. */
  createSession(options: SessionOptions = {}): Promise<Session> {
    const { sessionId = randomUUID(), ...rest } = options;
    this.warnings.ofNames('create', options);
    this.warnings.ofCommands(options.commands);
    return this.runtime().open('session.create', sessionId, rest);
  }

  /** Opens a session that is stored, or live with other clients. */
  resumeSession(sessionId: string, options: ResumeSessionOptions = {}): Promise<Session> {
    this.warnings.ofNames('resume', options);
    this.warnings.ofCommands(options.commands);
    return this.runtime().open('session.resume', sessionId, options);
  }

  /** Sessions with at least one prompt, the newest first. */
  async listSessions(filter: SessionListFilter = {}): Promise<SessionMetadata[]> {
    this.warnings.ofNames('list', filter);
    return (await this.call('session.list', filterParams(filter))).sessions.map(metadataFrom);
  }

  /** What a list would say of one session; undefined when it is not known. */
  async getSessionMetadata(sessionId: string): Promise<SessionMetadata | undefined> {
    const { session } = await this.call('session.getMetadata', { sessionId });
    return session && metadataFrom(session);
  }

  /** The session that changed last. */
  async getLastSessionId(): Promise<string | undefined> {
    return (await this.call('session.getLastId', {})).sessionId;
  }

  /** Closes a session and removes all of it. */
  async deleteSession(sessionId: string): Promise<void> {
    const { success, error } = await this.call('session.delete', { sessionId });
    if (!success)
      throw new GroundcrewError('session_not_found', `Failed to delete session ${sessionId}: ${error}`);
    this.current?.removeSession(sessionId);
  }

  /** The models one may choose. */
  async listModels(): Promise<readonly ModelInfo[]> {
    return (await this.call('models.list', {})).models;
  }

  /** Whether the runtime answers. */
  ping(message?: string): Promise<Result<Methods['ping']>> {
    return this.call('ping', message === undefined ? {} : { message });
  }

  /** Which version runs. */
  getStatus(): Promise<Result<Methods['status.get']>> {
    return this.call('status.get', {});
  }

  /** Who the runtime is logged in as. */
  getAuthStatus(): Promise<Result<Methods['auth.getStatus']>> {
    return this.call('auth.getStatus', {});
  }

  /** Learns of sessions that come, change and go, all or of one type. Returns the undo. */
  onLifecycle(handler: LifecycleHandler): () => void;
  onLifecycle(type: SessionLifecycleEvent['type'], handler: LifecycleHandler): () => void;
  onLifecycle(...given: [LifecycleHandler] | [string, LifecycleHandler]): () => void {
    if (given.length === 1) return this.lifecycle.add(undefined, given[0]);
    return this.lifecycle.add(given[0], given[1]);
  }

  /** Calls any method of the runtime; types come from the table of the protocol. */
  async call<K extends MethodName>(
    method: K,
    params: Params<Methods[K]>,
    signal?: AbortSignal,
  ): Promise<Result<Methods[K]>> {
    return (await this.runtime().link).call(method, params, signal);
  }

  private runtime(): OpenRuntime {
    this.current ??= this.open();
    return this.current;
  }

  private open(lost?: LostConnection): OpenRuntime {
    return new OpenRuntime({
      client: this.options,
      lifecycle: this.lifecycle,
      report: this.report,
      warnings: this.warnings,
      ...(lost && { lost }),
      onEnd: (ended, end) => this.onEnd(ended, end),
    });
  }

  /** Sessions move at once, in this call: what they say next waits for the new connection. */
  private onEnd(ended: OpenRuntime, { reason, canReturn, isPlanned = false, sessions }: RuntimeEnd): void {
    if (this.current === ended) this.current = undefined;
    if (!reason) return;
    if (!canReturn) {
      this.notifyLost({ error: reason, willReconnect: false });
      return;
    }
    const lost = { reason, timeout: reconnectTimeout(this.options) };
    const next = this.open(lost);
    this.current = next;
    const moved = sessions.map((session) => ({ session, outcome: next.adopt(session, lost) }));
    if (!isPlanned) this.notifyLost({ error: reason, willReconnect: true });
    void this.followReturn(next, moved);
  }

  private async followReturn(
    next: OpenRuntime,
    moved: readonly { readonly session: Session; readonly outcome: Promise<Error | undefined> }[],
  ): Promise<void> {
    try {
      await next.link;
    } catch (thrown) {
      await Promise.all(moved.map(({ outcome }) => outcome));
      const error = thrown as GroundcrewError; // nothing else is thrown there
      if (!next.isStopping) this.notifyLost({ error, willReconnect: false });
      return;
    }
    const outcomes = await Promise.all(
      moved.map(async ({ session: { sessionId }, outcome }) => ({ sessionId, error: await outcome })),
    );
    if (this.current !== next) return; // lost again, or stopped, before all was done
    const failed = outcomes.flatMap(({ sessionId, error }) => (error ? [{ sessionId, error }] : []));
    const sessionIds = outcomes.filter(({ error }) => !error).map(({ sessionId }) => sessionId);
    this.inform('onReconnected', () => this.options.onReconnected?.({ sessionIds, failed }));
  }

  private notifyLost(lost: ConnectionLost): void {
    this.inform('onConnectionLost', () => this.options.onConnectionLost?.(lost));
  }

  private inform(name: string, notify: () => unknown): void {
    const failed = (thrown: unknown) => this.report({ handler: 'connection', name }, thrown);
    try {
      Promise.resolve(notify()).catch(failed);
    } catch (thrown) {
      failed(thrown);
    }
  }
}
