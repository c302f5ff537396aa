import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { AnyEvent, EventData } from '@groundcrew/protocol';
import type { Message } from '@groundcrew/rpc';
import type { RuleModel, WireClient } from '@groundcrew/testkit';
import { type Line, resultOf, tools } from './conversation.js';
import type { Ledger } from './ledger.js';
import type { RuntimeChild } from './runtime-child.js';

/** What a client of a runtime under test goes by. */
export interface ChaosClientOptions {
  readonly runtime: RuntimeChild;
  readonly model: RuleModel;
  /** Runs the tools; another client on the same session only watches and approves. */
  readonly servesTools: boolean;
  /** Its hooks guard the sessions; without, users are asked. */
  readonly hooks?: (hookType: string, input: HookedInput) => Promise<unknown>;
  /** It has no user who could be asked. */
  readonly asksNobody?: boolean;
}

/** What a hook is asked about, as far as chaos looks at it. */
export interface HookedInput {
  readonly toolName?: string;
  readonly toolArgs?: Readonly<Record<string, unknown>>;
}

/** A question that the stored events leave open. */
interface OpenQuestion {
  readonly kind: 'tool' | 'permission';
  readonly requestId: string;
  readonly toolCallId: string;
}

/** Longer than any turn takes; what has not come by then is stuck. */
const patience = 10_000;

/** A client that answers every question twice, remembers what it received, and what it did. */
export class ChaosClient {
  /** Leaves questions open. */
  isSilent = false;
  /** Answers and sends that failed; only a dead runtime excuses them. */
  readonly failures: string[] = [];
  private readonly sessions = new Map<string, { ledger: Ledger; events: AnyEvent[]; run: string[] }>();
  private readonly watchers = new Set<() => void>();
  private readonly answering = new Set<Promise<void>>();
  private isDropped = false;

  private constructor(
    private readonly options: ChaosClientOptions,
    readonly wire: WireClient,
  ) {}

  static async connect(options: ChaosClientOptions): Promise<ChaosClient> {
    let receive = (_message: Message): void => undefined;
    const wire = await options.runtime.connect((message) => receive(message));
    const client = new ChaosClient(options, wire);
    receive = (message) => client.receive(message);
    const { hooks } = options;
    if (hooks)
      wire.answer = async (_method, params) => {
        const { hookType, input } = params as { hookType: string; input: HookedInput };
        return { output: await hooks(hookType, input) };
      };
    return client;
  }

  async create(ledger: Ledger): Promise<void> {
    this.follow(ledger);
    await this.wire.call('session.create', this.settings(ledger));
    ledger.isCreated = true;
  }

  async resume(
    ledger: Ledger,
    how: {
      readonly continuePendingWork: boolean;
      readonly disableResume?: boolean;
      readonly takeOver?: boolean;
    },
  ): Promise<void> {
    this.follow(ledger);
    await this.wire.call('session.resume', { ...this.settings(ledger), ...how });
  }

  /** Comes in beside another client, unless it was cut off first. */
  async join(ledger: Ledger): Promise<void> {
    await this.resume(ledger, { continuePendingWork: false }).catch((error: unknown) => {
      if (!this.isDropped) throw error;
    });
  }

  /** Sends under an id of its own, so that sending again is harmless. */
  async send(ledger: Ledger, line: Line): Promise<void> {
    const { sessionId } = ledger;
    const messageId = idOf(ledger, line);
    await this.wire.call('session.send', { sessionId, prompt: line.prompt, messageId });
    if (!ledger.acknowledged.includes(messageId)) ledger.acknowledged.push(messageId);
  }

  /** Has the conversation replaced by a summary. */
  async compact({ sessionId }: Ledger): Promise<void> {
    await this.wire.call('session.history.compact', { sessionId });
  }

  /** The stored events, by the wire. */
  async stored({ sessionId }: Ledger): Promise<readonly AnyEvent[]> {
    const { events } = await this.wire.call<{ events: readonly AnyEvent[] }>('session.getMessages', {
      sessionId,
    });
    return events;
  }

  /** Answers what the stored events leave open, under the old ids; an answer no caller waits for must be refused. */
  async answerOpen(ledger: Ledger, { isAwaited }: { readonly isAwaited: boolean }): Promise<void> {
    for (const question of openQuestions(await this.stored(ledger))) {
      const isAccepted = await this.answer(ledger, question);
      if (isAwaited && !isAccepted) ledger.refused.push(question.requestId);
      if (!isAwaited && isAccepted)
        ledger.problems.push(
          `a late answer to the ${question.kind} question ${question.requestId} was accepted`,
        );
    }
  }

  /** Resolves once the session is idle and has said all these last words. */
  async untilIdle(ledger: Ledger, lines: readonly Line[]): Promise<void> {
    await this.until(ledger, (events) => {
      const isIdle = events.at(-1)?.type === 'session.idle';
      return isIdle && lines.every(({ end }) => events.some((event) => says(event, end)));
    });
    await Promise.all(this.answering);
  }

  /** Resolves when the events received so far pass the test; throws with their story when they never do. */
  until({ sessionId }: Ledger, test: (events: readonly AnyEvent[]) => boolean): Promise<void> {
    const events = this.sessions.get(sessionId)?.events ?? [];
    if (test(events)) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const stop = () => {
        clearTimeout(timer);
        this.watchers.delete(watch);
      };
      const watch = () => {
        if (!test(events) && !this.options.runtime.isGone) return;
        stop();
        if (test(events)) resolve();
        else reject(new Error('the runtime is gone'));
      };
      const timer = setTimeout(() => {
        stop();
        reject(new Error(`stuck; last received: ${events.slice(-8).map((event) => event.type)}`));
      }, patience);
      this.watchers.add(watch);
      void this.options.runtime.gone.then(watch);
    });
  }

  /** Hangs up in the middle of things. */
  async drop(): Promise<void> {
    this.isDropped = true;
    await this.wire.close();
  }

  private settings({ sessionId }: Ledger): object {
    const { model, servesTools, runtime, hooks, asksNobody = false } = this.options;
    const workingDirectory = workIn(runtime.home, sessionId);
    mkdirSync(workingDirectory, { recursive: true });
    return {
      sessionId,
      workingDirectory,
      ...model.settings,
      streaming: true,
      requestPermission: !asksNobody,
      hooks: hooks !== undefined,
      // As the newest clients, which are sent every event as it is stored.
      toolFilterPrecedence: 'excluded',
      excludedBuiltinAgents: [],
      tools: servesTools ? tools : [],
    };
  }

  private follow(ledger: Ledger): void {
    if (this.sessions.has(ledger.sessionId)) return;
    const run: string[] = [];
    ledger.received.push(run);
    this.sessions.set(ledger.sessionId, { ledger, events: [], run });
  }

  private receive(message: Message): void {
    if (!('method' in message) || message.method !== 'session.event') return;
    const { sessionId, event } = message.params as { sessionId: string; event: AnyEvent };
    const session = this.sessions.get(sessionId);
    if (!session) return;
    session.events.push(event);
    if (!event.ephemeral) session.run.push(JSON.stringify(event));
    const question = questionOf(event);
    if (question) this.answerSoon(session.ledger, question);
    for (const watch of [...this.watchers]) watch();
  }

  private answerSoon(ledger: Ledger, question: OpenQuestion): void {
    if (this.isSilent || (question.kind === 'tool' && !this.options.servesTools)) return;
    const answering = this.answer(ledger, question).then(
      () => undefined,
      (error: unknown) => {
        if (!this.isDropped) this.failures.push(String(error));
      },
    );
    this.answering.add(answering);
    void answering.then(() => this.answering.delete(answering));
  }

  /** Answers twice at once. True when one of the two was accepted; two are one too many. */
  private async answer(ledger: Ledger, question: OpenQuestion): Promise<boolean> {
    const { requestId } = question;
    const [method, answer] = this.answerTo(ledger, question);
    const ask = async () => {
      const params = { sessionId: ledger.sessionId, requestId, ...answer };
      const { success } = await this.wire.call<{ success: boolean }>(method, params);
      if (!success) return false;
      if (ledger.accepted.includes(requestId))
        ledger.problems.push(`two answers to ${question.kind} question ${requestId} were accepted`);
      ledger.accepted.push(requestId);
      return true;
    };
    const [first, second] = await Promise.all([ask(), ask()]);
    return first || second;
  }

  private answerTo(ledger: Ledger, { kind, toolCallId }: OpenQuestion): readonly [string, object] {
    if (kind === 'permission')
      return ['session.permissions.handlePendingPermissionRequest', { result: { kind: 'approve-once' } }];
    if (!ledger.effects.includes(toolCallId)) ledger.effects.push(toolCallId);
    return ['session.tools.handlePendingToolCall', { result: resultOf(toolCallId) }];
  }
}

/** Where a session works. */
export function workIn(home: string, sessionId: string): string {
  return join(home, 'work', sessionId);
}

/** The id under which a line is sent in a session; the last one is said anew in every life. */
export function idOf({ sessionId, lives }: Ledger, { name }: Line): string {
  return name === 'next' ? `${sessionId}-${name}-${lives}` : `${sessionId}-${name}`;
}

function says(event: AnyEvent, text: string): boolean {
  return (
    event.type === 'assistant.message' && (event.data as EventData<'assistant.message'>).content === text
  );
}

function questionOf(event: AnyEvent): OpenQuestion | undefined {
  if (event.type === 'external_tool.requested') {
    const { requestId, toolCallId } = event.data as EventData<'external_tool.requested'>;
    return { kind: 'tool', requestId, toolCallId };
  }
  if (event.type !== 'permission.requested') return undefined;
  const { requestId, permissionRequest } = event.data as EventData<'permission.requested'>;
  return { kind: 'permission', requestId, toolCallId: permissionRequest.toolCallId ?? '' };
}

function completes(event: AnyEvent, { requestId }: OpenQuestion): boolean {
  const isAnswer = event.type === 'external_tool.completed' || event.type === 'permission.completed';
  return isAnswer && (event.data as { requestId: string }).requestId === requestId;
}

/** Asked, not answered, and of the turn that was open at the end. */
function openQuestions(events: readonly AnyEvent[]): readonly OpenQuestion[] {
  const asked = events.flatMap((event) => questionOf(event) ?? []);
  return asked.filter((question) => !events.some((event) => completes(event, question)));
}
