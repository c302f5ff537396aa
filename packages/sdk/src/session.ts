import { randomUUID } from 'node:crypto';
import type { EventOf, EventType, Methods, Result, SessionEvent } from '@groundcrew/protocol';
import { SessionAgents } from './agents.js';
import { Answers } from './answers.js';
import { CallbackAnswers } from './callbacks.js';
import { GroundcrewError, isConnectionLost, sessionNotFound } from './errors.js';
import { EventFeed } from './event-feed.js';
import type { Report } from './handler-failure.js';
import type { WaitingOn } from './metadata.js';
import { type OutputOf, type OutputSchema, outputOf, outputParams } from './output.js';
import { type PendingQuestion, pendingQuestions } from './pending-questions.js';
import { ReconnectGap } from './reconnect-gap.js';
import { SessionCalls, type SessionPlace } from './session-calls.js';
import type {
  LogOptions,
  MessageOptions,
  ProviderUpdate,
  ResumeSessionOptions,
  SetModelOptions,
} from './session-options.js';
import { providerParams, withProviderUpdate } from './session-params.js';
import { streamTurn } from './stream-turn.js';
import { SessionTasks } from './tasks.js';
import { type AssistantMessageEvent, lastMessageOf, type TurnWait } from './turn-wait.js';
import { Turns } from './turns.js';
import type { Warnings } from './warnings.js';
import type { Call, SessionCallArguments, SessionMethodName } from './wire.js';

/** What a session is made of. */
export interface SessionParts {
  readonly sessionId: string;
  readonly options: ResumeSessionOptions;
  readonly report: Report;
  readonly warnings: Warnings;
  readonly place: SessionPlace;
  /** All its events are for this client, from the first. */
  readonly isNew: boolean;
}

/** One conversation. Made by a client's `createSession` and `resumeSession`. */
export class Session implements AsyncDisposable, AsyncIterable<SessionEvent> {
  readonly sessionId: string;
  /** The agents that can lead it, and that its agent may ask. */
  readonly agents: SessionAgents;
  /** The agents that work for its agent. */
  readonly tasks: SessionTasks;
  /** @internal */
  options: ResumeSessionOptions;
  private readonly report: Report;
  private readonly warnings: Warnings;
  private readonly calls: SessionCalls;
  private readonly feed: EventFeed;
  private readonly answers: Answers;
  private readonly callbacks: CallbackAnswers;
  private readonly turns = new Turns();
  private workspace: string | undefined;
  private leaving: Promise<void> | undefined;
  private lastStored: string | undefined;
  private gap: ReconnectGap | undefined;
  /** Resolves when listeners have received what the last loss of the connection kept from them. */
  private caughtUp: Promise<unknown> = Promise.resolve();
  private wasOpened = false;

  /** @internal */
  constructor({ sessionId, options, report, warnings, place, isNew }: SessionParts) {
    this.lastStored = isNew ? undefined : unknownEvent;
    this.sessionId = sessionId;
    this.options = options;
    this.report = report;
    this.warnings = warnings;
    this.calls = new SessionCalls(place);
    this.agents = new SessionAgents(sessionId, this.calls.insist, warnings);
    this.tasks = new SessionTasks(this, this.calls.insist, warnings);
    this.feed = new EventFeed(({ type }, thrown) =>
      report({ handler: 'event', name: type, sessionId }, thrown),
    );
    this.callbacks = new CallbackAnswers(options, report);
    this.answers = new Answers({ ...options, sessionId, call: this.calls.insist, report });
    if (options.onEvent) this.feed.on(undefined, options.onEvent);
  }

  /** Where the session keeps its files, if it has such a place. */
  get workspacePath(): string | undefined {
    return this.workspace;
  }

  /**
   * Gives the session a prompt. Resolves with its id once it is stored; the turn goes on alone.
   * While the connection to a runtime that this client did not start is lost, it waits. A prompt whose answer was lost
   * is sent once more under its id, which makes it one turn.
   */
  async send(message: string | MessageOptions): Promise<string> {
    const { messageId = randomUUID(), output, ...rest } = asOptions(message);
    this.warnings.ofNames('send', rest);
    const form = output && { output: outputParams(output) };
    const trace = await this.calls.place.traceContext();
    try {
      const params = { sessionId: this.sessionId, messageId, ...rest, ...form, ...trace };
      return (await this.calls.insist('session.send', params)).messageId;
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      throw new GroundcrewError(error.kind, error.message, { cause: error, messageId });
    }
  }

  /**
   * Gives the session a prompt and waits until it is idle. Resolves with the last thing the agent said, if any.
   * After `timeout` milliseconds, or when the signal fires, only the wait is over: the turn goes on.
   */
  sendAndWait(
    message: string | (MessageOptions & { readonly output?: undefined }),
    timeout?: number,
    signal?: AbortSignal,
  ): Promise<AssistantMessageEvent | undefined>;
  /**
   * Gives the session a prompt and resolves with an answer of the form that `output` asks for: a schema of zod, or a JSON
   * Schema. Throws OutputError, with what the model said last, when it cannot be had.
   *
   * @example
   * const { total } = await session.sendAndWait({ prompt: 'Add up the invoice', output: z.object({ total: z.number() }) });
   */
  sendAndWait<S extends OutputSchema>(
    message: MessageOptions & { readonly output: S },
    timeout?: number,
    signal?: AbortSignal,
  ): Promise<OutputOf<S>>;
  async sendAndWait(
    message: string | MessageOptions,
    timeout = 60_000,
    signal?: AbortSignal,
  ): Promise<unknown> {
    const options = asOptions(message);
    const last = await this.takeTurn({ ...options, timeout }, signal);
    return options.output ? outputOf(options.output, last) : last;
  }

  /**
   * Gives the session a prompt and yields what the agent says until its turn is over, tool rounds included: piece by piece
   * in a session with `streaming`, else message by message; each message begins on a line of its own. Throws when the turn
   * fails. To break off the loop, or the signal, stops the turn.
   */
  async *stream(
    message: string | MessageOptions,
    signal?: AbortSignal,
  ): AsyncGenerator<string, void, undefined> {
    const options = asOptions(message);
    const messageId = options.messageId ?? randomUUID();
    const timeout = Number.POSITIVE_INFINITY;
    yield* streamTurn(
      { session: this, messageId, take: () => this.takeTurn({ ...options, messageId, timeout }, signal) },
      signal,
    );
  }

  /** Receives all events from now on, or those of one type. Returns the undo, which may be called at any time and again. */
  on<K extends EventType>(type: K, handler: (event: EventOf<K>) => unknown): () => void;
  on(handler: (event: SessionEvent) => unknown): () => void;
  on(first: EventType | ((event: SessionEvent) => unknown), second?: (event: never) => unknown): () => void {
    if (typeof first === 'function') return this.feed.on(undefined, first);
    return this.feed.on(first, second as (event: SessionEvent) => unknown); // called only with events of this type
  }

  /** Events from this call on, until the session is left or the signal fires. */
  events(signal?: AbortSignal): AsyncIterableIterator<SessionEvent> {
    return this.feed.stream(signal);
  }

  /** The same as `events()`. */
  [Symbol.asyncIterator](): AsyncIterableIterator<SessionEvent> {
    return this.events();
  }

  /** All stored events, from the first. */
  async getEvents(): Promise<readonly SessionEvent[]> {
    const { events } = await this.calls.insist('session.getMessages', { sessionId: this.sessionId });
    return events as readonly SessionEvent[]; // what the runtime stores, it names as the table does
  }

  /** The same as `getEvents`. */
  getMessages(): Promise<readonly SessionEvent[]> {
    return this.getEvents();
  }

  /** The questions that wait for an answer, whichever client may answer it, the oldest first. */
  pending(): Promise<readonly PendingQuestion[]> {
    return pendingQuestions(this.calls.insist, this.sessionId);
  }

  /** What it waits for at this moment, and since when: a model, an attempt to come, a tool, users, its turn. */
  async waitingOn(): Promise<readonly WaitingOn[]> {
    const { sessionId } = this;
    return (await this.calls.insist('session.metadata.activity', { sessionId })).waitingOn;
  }

  /** Stops the running turn and its tools; prompts that wait go on waiting their turn. */
  async abort(): Promise<void> {
    await this.call('session.abort');
  }

  /** Another model, from the next model call on. */
  async setModel(model: string, options: SetModelOptions = {}): Promise<void> {
    this.warnings.ofNames('setModel', options);
    await this.call('session.model.switchTo', { modelId: model, ...options });
  }

  /** Other settings of the model service, from the next model call on; what is left out stays. They are not stored. */
  async updateProvider(provider: ProviderUpdate): Promise<void> {
    this.warnings.ofNames('updateProvider', provider);
    await this.call('session.provider.update', { provider: providerParams(provider) });
    this.options = withProviderUpdate(this.options, provider);
    this.callbacks.goBy(this.options);
  }

  /** Puts a notice into the session, for users to see. Resolves with the id of its event. */
  async log(message: string, options: LogOptions = {}): Promise<string> {
    this.warnings.ofNames('log', options);
    return (await this.call('session.log', { message, ...options })).eventId;
  }

  /** Calls any method of this session; types come from the table of the protocol. */
  call<K extends SessionMethodName>(
    method: K,
    ...[params, signal]: SessionCallArguments<K>
  ): Promise<Result<Methods[K]>> {
    // The compiler does not see that the params without their session, and the session, are the params.
    type Whole = Parameters<typeof this.calls.request<K>>[1];
    return this.calls.request(method, { ...params, sessionId: this.sessionId } as unknown as Whole, signal);
  }

  /** Leaves the session, which stays stored. Calls that wait fail, handlers receive nothing more, later calls fail. */
  disconnect(signal?: AbortSignal): Promise<void> {
    this.leaving ??= this.detach(signal);
    return this.leaving;
  }

  /** @deprecated Use `disconnect`. */
  destroy(): Promise<void> {
    return this.disconnect();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.disconnect();
  }

  /** @internal The runtime has opened the session; if its work is continued, so are the questions that wait. */
  opened(
    { workspacePath }: Result<Methods['session.create']>,
    { isContinued }: { readonly isContinued: boolean },
  ): void {
    this.workspace = workspacePath || undefined;
    if (this.lastStored === unknownEvent && this.options.disableResume) void this.noteLastStored();
    this.wasOpened = true;
    const mayAnswer = (requestId: string) => this.calls.place.mayAnswer(requestId);
    if (isContinued) void this.answers.fetchAndCatchUp(() => this.pending(), mayAnswer);
    else this.answers.catchUp([], mayAnswer);
  }

  /** @internal The runtime has opened it, and the app has not left it. */
  get isOpen(): boolean {
    return this.wasOpened && !this.isOver;
  }

  /** @internal */
  get request(): Call {
    return this.calls.request;
  }

  /** @internal Nothing can be called any more. */
  get isOver(): boolean {
    return this.calls.isOver;
  }

  /** @internal Whether it is this connection that it goes by. */
  isOn(place: SessionPlace): boolean {
    return this.calls.place === place;
  }

  /**
   * @internal The session goes on over another connection; it was opened there once `opened` resolves.
   * Resolves when listeners have received what they missed.
   */
  move(place: SessionPlace, opened: Promise<unknown>): Promise<undefined> {
    const gap = new ReconnectGap(this.lastStored);
    this.gap = gap;
    this.calls.move(place);
    this.answers.move();
    const closed = opened.then(() => (this.isOver ? undefined : this.closeGap(gap)));
    this.caughtUp = closed.catch(() => undefined);
    return closed;
  }

  /** @internal Questions are answered before listeners receive them. */
  receive(event: SessionEvent, { isAnswering }: { readonly isAnswering: boolean }): void {
    if (isAnswering && !this.calls.isOver) this.answers.receive(event);
    if (this.gap?.passes(event) ?? true) this.deliver(event);
  }

  /** @internal */
  isAt(requestId: string): boolean {
    return this.answers.isAt(requestId);
  }

  /** @internal */
  answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return this.callbacks.answer(method, params, signal);
  }

  /** @internal Nothing more will come, and why. */
  end(reason: GroundcrewError): void {
    this.stopAsking(reason);
    this.feed.end(this.leaving === undefined ? reason : undefined);
  }

  private takeTurn(
    { timeout, ...options }: MessageOptions & { readonly timeout: number },
    signal: AbortSignal | undefined,
  ): Promise<AssistantMessageEvent | undefined> {
    const messageId = options.messageId ?? randomUUID();
    const send = async (wait: TurnWait) => {
      await this.send({ ...options, messageId });
      wait.acknowledge();
      if (options.messageId !== undefined) await this.lookBack(wait, messageId);
    };
    return this.turns.wait({ messageId, timeout, send }, signal);
  }

  private deliver(event: SessionEvent): void {
    if (!event.ephemeral) this.lastStored = event.id;
    this.turns.receive(event);
    this.feed.deliver(event);
  }

  /** The sender of a prompt learns first that it has arrived, then its outcome. */
  private async closeGap(gap: ReconnectGap): Promise<undefined> {
    await this.calls.repeated();
    const now = await this.lookAround().catch((error: unknown) => {
      const { report, sessionId } = this;
      if (!(error instanceof GroundcrewError))
        report({ handler: 'callback', name: 'session.getMessages', sessionId }, error);
      return { stored: [], isIdle: false };
    });
    if (this.gap === gap) for (const event of gap.close(now)) this.deliver(event);
  }

  /** Whether it is idle is asked last: a turn that begins while the events are read would make it untrue. */
  private async lookAround(): Promise<{
    readonly stored: readonly SessionEvent[];
    readonly isIdle: boolean;
  }> {
    const { sessionId } = this;
    const { events } = await this.calls.request('session.getMessages', { sessionId });
    const { processing } = await this.calls.request('session.metadata.isProcessing', { sessionId });
    return { stored: events as readonly SessionEvent[], isIdle: !processing };
  }

  /** No event says where a session stands that was opened without one. */
  private async noteLastStored(): Promise<void> {
    const { sessionId } = this;
    const last = { sessionId, direction: 'backward', max: 1 } as const;
    const page = await this.calls.request('session.eventLog.read', last).catch(() => undefined);
    if (this.lastStored === unknownEvent) this.lastStored = page?.events.at(-1)?.id ?? unknownEvent;
  }

  /** A prompt that was sent before may have had its turn already: then its answer is in the log. */
  private async lookBack(wait: TurnWait, messageId: string): Promise<void> {
    const { sessionId } = this;
    const { processing } = await this.calls.insist('session.metadata.isProcessing', { sessionId });
    // Who waits hears nothing of the end before listeners have received what came before it.
    for (let known: unknown; known !== this.caughtUp; await known) known = this.caughtUp;
    if (processing || wait.hasBegun) return;
    wait.succeed(lastMessageOf(await this.getEvents(), messageId));
  }

  private async detach(signal: AbortSignal | undefined): Promise<void> {
    if (this.calls.isOver) return;
    const gone = sessionNotFound(this.sessionId);
    this.stopAsking(gone);
    try {
      await this.calls.place.detach(signal);
    } finally {
      this.end(gone);
    }
  }

  private stopAsking(reason: GroundcrewError): void {
    const first = this.calls.end(reason);
    this.answers.end(first);
    this.turns.fail(first);
  }
}

/** No event has this id: what was stored before is not for this client. */
const unknownEvent = '';

function asOptions(message: string | MessageOptions): MessageOptions {
  return typeof message === 'string' ? { prompt: message } : message;
}
