import { randomUUID } from 'node:crypto';
import type { EventOf, EventType, Methods, Result, SessionEvent } from '@groundcrew/protocol';
import { Answers } from './answers.js';
import { CallbackAnswers } from './callbacks.js';
import { GroundcrewError, sessionNotFound } from './errors.js';
import { EventStream } from './event-stream.js';
import { Listeners } from './listeners.js';
import { OpenWork } from './open-work.js';
import type { Report } from './report.js';
import type { LogOptions, MessageOptions, SessionConfigBase, SetModelOptions } from './session-options.js';
import type { TraceContext } from './trace.js';
import { type AssistantMessageEvent, lastMessageOf, TurnWait } from './turn-wait.js';
import type { Call, SessionCallArguments, SessionMethodName } from './wire.js';

/** What a session is given by its client. */
export interface SessionSurroundings {
  readonly sessionId: string;
  readonly options: SessionConfigBase;
  readonly call: Call;
  readonly report: Report;
  traceContext(): Promise<TraceContext>;
  /** The session is left: false when it has been opened again since, and so stays attached. */
  onLeave(): boolean;
}

/** One conversation. Made by a client's `createSession` and `resumeSession`. */
export class Session implements AsyncDisposable, AsyncIterable<SessionEvent> {
  readonly sessionId: string;
  private readonly listeners: Listeners<SessionEvent>;
  private readonly answers: Answers;
  private readonly callbacks: CallbackAnswers;
  private readonly openWork = new OpenWork();
  private readonly waits = new Set<TurnWait>();
  private readonly streams = new Set<EventStream>();
  private workspace: string | undefined;
  /** Why nothing can be asked any more. */
  private over: GroundcrewError | undefined;
  private leaving: Promise<void> | undefined;

  /** @internal */
  constructor(private readonly surroundings: SessionSurroundings) {
    const { sessionId, options, report } = surroundings;
    this.sessionId = sessionId;
    this.listeners = new Listeners((event, thrown) =>
      report({ handler: 'event', name: event.type, sessionId }, thrown),
    );
    this.callbacks = new CallbackAnswers(options, report);
    this.answers = new Answers({
      sessionId,
      tools: options.tools ?? [],
      onPermissionRequest: options.onPermissionRequest,
      call: (method, params, signal) => this.request(method, params, signal),
      report,
    });
    if (options.onEvent) this.listeners.add(undefined, options.onEvent);
  }

  /** Where the session keeps its files, if it has such a place. */
  get workspacePath(): string | undefined {
    return this.workspace;
  }

  /** Gives the session a prompt. Resolves with its id once it is stored; the turn goes on alone. */
  async send(message: string | MessageOptions): Promise<string> {
    const { prompt, messageId = randomUUID(), ...rest } = asOptions(message);
    const trace = await this.surroundings.traceContext();
    const params = { sessionId: this.sessionId, prompt, messageId, ...rest, ...trace };
    try {
      return (await this.request('session.send', params)).messageId;
    } catch (error) {
      if (!(error instanceof GroundcrewError) || error.kind !== 'connection_lost') throw error;
      throw new GroundcrewError(error.kind, error.message, { cause: error, messageId });
    }
  }

  /**
   * Gives the session a prompt and waits until it is idle. Resolves with the last thing the agent said, if any.
   * After `timeout` milliseconds, or when the signal fires, only the wait is over: the turn goes on.
   */
  async sendAndWait(
    message: string | MessageOptions,
    timeout = 60_000,
    signal?: AbortSignal,
  ): Promise<AssistantMessageEvent | undefined> {
    signal?.throwIfAborted();
    const options = asOptions(message);
    const messageId = options.messageId ?? randomUUID();
    const wait = new TurnWait(messageId);
    const stop = () => wait.fail(signal?.reason);
    const timer = timeout <= longestTimer ? setTimeout(() => wait.fail(this.timedOut(timeout)), timeout) : undefined;
    signal?.addEventListener('abort', stop, { once: true });
    this.waits.add(wait);
    try {
      this.sendFor(wait, { ...options, messageId }, options.messageId !== undefined);
      return await wait.done;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
      this.waits.delete(wait);
    }
  }

  /** Hears all events from now on, or those of one type. Returns the undo, which may be called at any time and again. */
  on<K extends EventType>(type: K, handler: (event: EventOf<K>) => unknown): () => void;
  on(handler: (event: SessionEvent) => unknown): () => void;
  on(first: EventType | ((event: SessionEvent) => unknown), second?: (event: never) => unknown): () => void {
    if (this.over) return () => undefined;
    if (typeof first === 'function') return this.listeners.add(undefined, first);
    // Told only of events of this type.
    return this.listeners.add(first, second as (event: SessionEvent) => unknown);
  }

  /** Events from this call on, until the session is left or the signal fires. */
  events(signal?: AbortSignal): AsyncIterableIterator<SessionEvent> {
    const stop = () => void stream.return();
    const stream = new EventStream(() => {
      this.streams.delete(stream);
      signal?.removeEventListener('abort', stop);
    });
    if (this.over || signal?.aborted) stream.end(this.over);
    else this.streams.add(stream);
    signal?.addEventListener('abort', stop, { once: true });
    return stream;
  }

  /** The same as `events()`. */
  [Symbol.asyncIterator](): AsyncIterableIterator<SessionEvent> {
    return this.events();
  }

  /** All stored events, from the first. */
  async getEvents(): Promise<readonly SessionEvent[]> {
    const { events } = await this.call('session.getMessages');
    return events as readonly SessionEvent[]; // what the runtime stores, it names as the table does
  }

  /** The same as `getEvents`. */
  getMessages(): Promise<readonly SessionEvent[]> {
    return this.getEvents();
  }

  /** Stops the running turn and its tools; prompts that wait go on waiting their turn. */
  async abort(): Promise<void> {
    await this.call('session.abort');
  }

  /** Another model, from the next model call on. */
  async setModel(model: string, options: SetModelOptions = {}): Promise<void> {
    await this.call('session.model.switchTo', { modelId: model, ...options });
  }

  /** Puts a notice into the session, for people to see. Resolves with the id of its event. */
  async log(message: string, options: LogOptions = {}): Promise<string> {
    return (await this.call('session.log', { message, ...options })).eventId;
  }

  /** Calls any method of this session; types come from the table of the protocol. */
  call<K extends SessionMethodName>(method: K, ...args: SessionCallArguments<K>): Promise<Result<Methods[K]>> {
    const [params, signal] = args;
    // The compiler does not see that the params without their session, and the session, are the params.
    type Whole = Parameters<typeof this.request<K>>[1];
    return this.request(method, { ...params, sessionId: this.sessionId } as unknown as Whole, signal);
  }

  /** Leaves the session, which stays stored. Whoever waits is told, handlers hear nothing more, later calls fail. */
  disconnect(signal?: AbortSignal): Promise<void> {
    this.leaving ??= this.leave(signal);
    return this.leaving;
  }

  /** @deprecated Use `disconnect`. */
  destroy(): Promise<void> {
    return this.disconnect();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect();
  }

  /** @internal The runtime has opened the session. */
  opened({ workspacePath }: Result<Methods['session.create']>): void {
    this.workspace = workspacePath || undefined;
  }

  /** @internal Questions are answered before anybody else hears of them. */
  hear(event: SessionEvent, { isAnswering }: { readonly isAnswering: boolean }): void {
    this.openWork.hear(event);
    if (isAnswering && !this.over) this.answers.hear(event);
    for (const wait of this.waits) wait.hear(event);
    for (const stream of this.streams) stream.push(event);
    this.listeners.tell(event);
  }

  /** @internal */
  answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return this.callbacks.answer(method, params, signal);
  }

  /** @internal Nothing more will come, and why. */
  end(reason: GroundcrewError): void {
    this.stopAsking(reason);
    this.listeners.clear();
    for (const stream of this.streams) stream.end(this.leaving ? undefined : reason);
    this.streams.clear();
  }

  private request: Call = (method, params, signal) =>
    this.over ? Promise.reject(this.over) : this.surroundings.call(method, params, signal);

  /** A prompt that was sent before may have had its turn already: then its answer is in the log. */
  private sendFor(wait: TurnWait, options: MessageOptions & { messageId: string }, mayBeOver: boolean): void {
    const sent = this.send(options).then(async () => {
      wait.acknowledge();
      if (!mayBeOver || (await this.call('session.metadata.isProcessing')).processing || wait.begun) return;
      wait.succeed(lastMessageOf(await this.getEvents(), options.messageId));
    });
    sent.catch((error: unknown) => wait.fail(error));
  }

  private timedOut(timeout: number): GroundcrewError {
    const waitsFor = this.openWork.describe();
    const text = `Timeout after ${timeout / 1000}s waiting for session.idle: the session waits for ${waitsFor}`;
    return new GroundcrewError('timeout', text);
  }

  private async leave(signal: AbortSignal | undefined): Promise<void> {
    if (this.over) return;
    this.stopAsking(sessionNotFound(this.sessionId));
    try {
      const { call, onLeave } = this.surroundings;
      if (onLeave()) await call('session.destroy', { sessionId: this.sessionId }, signal);
    } finally {
      this.end(sessionNotFound(this.sessionId));
    }
  }

  private stopAsking(reason: GroundcrewError): void {
    this.over ??= reason;
    this.answers.end();
    for (const wait of this.waits) wait.fail(this.over);
  }
}

/** Node's timers know no longer time, and take one for none. */
const longestTimer = 2 ** 31 - 1;

function asOptions(message: string | MessageOptions): MessageOptions {
  return typeof message === 'string' ? { prompt: message } : message;
}
