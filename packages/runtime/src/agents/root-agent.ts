import { ModelError } from '@groundcrew/models';
import { StoreError } from '@groundcrew/store';
import { reportError } from '../hooks/error-hooks.js';
import { type HookInput, outputsOf } from '../hooks/hooks.js';
import { ErrorSkipped, Interruption, TurnAborted } from '../interruption.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { agentOf } from '../log/state.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { AgentWatch, Observer } from '../telemetry/observer.js';
import type { AgentContext, ReceivedPrompt } from '../turn/agent-context.js';
import { deliver } from '../turn/deliver.js';
import { Interaction, type PromptExtras } from '../turn/interaction.js';
import { LimitReached, runUntilAnswered } from '../turn/turn.js';
import { continueTurn } from './continue-turn.js';
import { cancellation } from './question-cancellation.js';
import { errorData } from './session-error.js';
import { type Run, type TurnOutcome, timeLimitText } from './turn-outcome.js';

/** What the root agent works with; what belongs to one prompt is made for each. */
export interface RootAgentParts {
  readonly log: SessionLog;
  context(interaction: Interaction): AgentContext;
  newId(): string;
  /** The trace of sessions whose prompts name none. */
  trace(): TraceContext;
  /** Watches the work, where telemetry is on. */
  readonly observer: Observer | undefined;
  /** Nothing can be written any more; says how the turn ends. */
  storeFailed(error: unknown): TurnOutcome;
}

/** Answers a sender: its prompt is stored, or why it is not. */
export interface Receipt {
  resolve(): void;
  reject(error: unknown): void;
}

/** The agent that the user talks to. It runs one prompt at a time to its end, whatever that is. */
export class RootAgent {
  /** Settles when the turn that runs has ended and clients have received that. */
  turnEnd: Promise<void> = Promise.resolve();
  /** A prompt is being answered, from its delivery to the end of its turn. */
  isAnswering = false;
  /** Stops the hooks that are asked at the end of a prompt. */
  private ending: AbortController | undefined;
  /** Errors that hooks know of. */
  private readonly reported = new WeakSet<object>();

  constructor(private readonly parts: RootAgentParts) {}

  /** Runs a prompt until the model asks for no tool; `receipt` resolves when the prompt is stored. */
  answer(
    run: Run,
    received: ReceivedPrompt,
    how: { readonly delivery: 'idle' | 'queued'; readonly receipt: Receipt },
  ): Promise<TurnOutcome> {
    const { log } = this.parts;
    const { receipt, delivery } = how;
    const context = this.contextFor(received.extras);
    return this.attempt(run, context, async (signal) => {
      if (log.state.nextModel) await this.takeChosenModel();
      const { hooks, planner } = context;
      // Hooks and servers may take their time: a prompt that waits for them is acknowledged, and safe, before.
      const isHooked = promptPoints.some((point) => hooks.has(point));
      const { isBare = false } = received.prompt;
      const isAdmitted = delivery === 'idle' && (isHooked || isBare || !planner.isReady());
      if (isAdmitted) this.admit(run, received.prompt, receipt);
      const delivered = planner
        .ready(signal)
        .then(() => deliver(received.prompt, { delivery, signal }, context));
      await delivered.catch((error: unknown) => {
        receipt.reject(error);
        return this.undelivered(received, { context, error, signal });
      });
      if (isAdmitted) await log.stored();
      const accepted = log.stored().then(() => {
        run.isSafe = true;
      });
      accepted.then(() => receipt.resolve(), receipt.reject);
      log.emit({ type: 'pending_messages.modified', data: {} });
      await runUntilAnswered(context, signal);
    });
  }

  /** Goes on with a turn that was left open. */
  continue(run: Run): Promise<TurnOutcome> {
    const { turn, awaited, output, stop } = agentOf(this.parts.log.state);
    const left = stop?.isOpen ? stop : undefined;
    const interactionId = (turn ?? awaited ?? output ?? left)?.interactionId;
    if (interactionId === undefined) return Promise.resolve('answered');
    const interaction = new Interaction(interactionId, { trace: this.parts.trace() });
    interaction.rounds = awaited ? 0 : Number(turn?.turnId ?? 0) + 1;
    interaction.promptText = awaited?.prompt ?? '';
    if (stop?.interactionId === interactionId) interaction.blocks = stop.blocks;
    const context = this.parts.context(interaction);
    return this.attempt(run, context, async (signal) => {
      const end = await continueTurn(context, signal);
      // An answer may be there that nothing has looked at: hooks, autopilot, and the form it has to have.
      await runUntilAnswered(context, signal, end === 'results wait' ? undefined : end);
    });
  }

  /** Has the model read of agents that have ended; they stand in its inbox. */
  notice(run: Run): Promise<TurnOutcome> {
    const context = this.contextFor({});
    return this.attempt(run, context, (signal) => runUntilAnswered(context, signal));
  }

  /** What comes of an interruption while nothing but other agents works. */
  interrupted(reason: unknown): Promise<TurnOutcome> | TurnOutcome {
    if (!(reason instanceof Interruption)) return 'answered';
    return reason.kind === 'close' ? 'stopped' : this.recordInterruption(reason);
  }

  /** Closes what a process before this one had left open. */
  closeInterrupted(): void {
    const { log } = this.parts;
    const { calls, turn } = agentOf(log.state);
    for (const { toolCallId } of calls) log.append({ note: 'call.interrupted', data: { toolCallId } });
    if (turn) log.append({ type: 'assistant.turn_end', data: { turnId: turn.turnId } });
    log.append(...this.promptEnd());
  }

  /** Makes a prompt that waited a message for the next turn to answer. */
  async deliverOnly({ prompt, extras }: ReceivedPrompt): Promise<void> {
    const { signal } = new AbortController();
    await deliver(prompt, { delivery: 'queued', signal }, this.contextFor(extras));
    this.parts.log.append({ note: 'stop.decided', data: {} });
  }

  /** The session is closed while a turn runs. */
  async userLeft(interaction: Interaction | undefined): Promise<void> {
    if (interaction) await this.endSession(this.parts.context(interaction), { reason: 'user_exit' });
  }

  private admit(run: Run, prompt: ReceivedPrompt['prompt'], receipt: Receipt): void {
    const { log } = this.parts;
    log.append({ note: 'prompt.admitted', data: prompt });
    const stored = log.stored().then(() => {
      run.isSafe = true;
    });
    stored.then(() => receipt.resolve(), receipt.reject);
  }

  /** A prompt that became no message does not run later by itself, unless the session was only put aside. */
  private async undelivered(
    received: ReceivedPrompt,
    { context, error, signal }: { context: AgentContext; error: unknown; signal: AbortSignal },
  ): Promise<never> {
    const { log } = this.parts;
    const { messageId } = received.prompt;
    const reason: unknown = signal.aborted ? signal.reason : error;
    const kind = reason instanceof Interruption ? reason.kind : undefined;
    if (error instanceof StoreError || reason instanceof StoreError || kind === 'close') throw error;
    const isAdmitted = log.latest.inbox.some((prompt) => prompt.messageId === messageId);
    if (kind === 'suspend' || kind === 'superseded') {
      if (isAdmitted) context.inbox.putBack([received]);
      throw error;
    }
    if (isAdmitted) log.append({ note: 'prompt.withdrawn', data: { messageId } });
    log.emit({ type: 'pending_messages.modified', data: {} });
    if (!(reason instanceof Interruption))
      await this.report(context, { error, errorContext: 'user_input' }, signal);
    throw error;
  }

  /** Reports an error that cannot be recovered to hooks, once; throws what they want in its place. */
  private async report(
    { hooks }: AgentContext,
    { error, errorContext }: { readonly error: unknown; readonly errorContext: 'system' | 'user_input' },
    signal: AbortSignal,
  ): Promise<void> {
    if (isReported(error) || (error instanceof Error && this.reported.has(error))) return;
    if (error instanceof Error) this.reported.add(error);
    const { message } = errorData(error);
    const input = { error: message, errorContext, recoverable: false };
    const { action } = await reportError(hooks, input, signal);
    if (action === 'skip') throw new ErrorSkipped(error);
    if (action === 'abort') throw new TurnAborted('user_abort');
  }

  /** What hooks receive at the end of a prompt, and what they say of the session. */
  private async endSession(context: AgentContext, end: HookInput<'sessionEnd'>): Promise<void> {
    const { hooks, log } = context;
    if (!hooks.has('sessionEnd')) return;
    const ending = new AbortController();
    this.ending = ending;
    const most = endMilliseconds[end.reason as keyof typeof endMilliseconds];
    const timer = most === undefined ? undefined : setTimeout(() => ending.abort(), most);
    try {
      const said = outputsOf(await hooks.run('sessionEnd', end, ending.signal));
      const summary = said.findLast(
        ({ sessionSummary }) => typeof sessionSummary === 'string',
      )?.sessionSummary;
      if (typeof summary === 'string') log.append({ note: 'settings.fixed', data: { summary } });
    } catch (error) {
      if (!ending.signal.aborted) throw error;
    } finally {
      clearTimeout(timer);
      this.ending = undefined;
    }
  }

  /** The hooks of a prompt that has ended are not waited for any longer. */
  stopEnding(): void {
    this.ending?.abort();
  }

  /** Writes these; how a turn ends that could not. */
  async record(...drafts: readonly (Draft | undefined)[]): Promise<TurnOutcome> {
    const { log, storeFailed } = this.parts;
    log.append(...drafts.filter((draft) => draft !== undefined));
    return log.stored().then(
      (): TurnOutcome => 'answered',
      (error: unknown) => storeFailed(error),
    );
  }

  private contextFor({ requestHeaders, trace = this.parts.trace() }: PromptExtras): AgentContext {
    const { context } = this.parts;
    const interaction = new Interaction(this.parts.newId(), {
      trace,
      ...(requestHeaders && { requestHeaders }),
    });
    return context(interaction);
  }

  /** A model that was chosen while a turn ran counts from the next message on. */
  private async takeChosenModel(): Promise<void> {
    const { nextModel } = this.parts.log.state;
    if (nextModel) await this.record({ type: 'session.model_change', data: nextModel });
  }

  /** Runs one turn to its end, whatever that is. */
  private async attempt(
    run: Run,
    context: AgentContext,
    work: (signal: AbortSignal) => Promise<void>,
  ): Promise<TurnOutcome> {
    const { controller } = run;
    run.interaction = context.interaction;
    this.isAnswering = true;
    const watch = this.watch(context.interaction);
    const { turnMilliseconds } = context.session.limits;
    const timer = setTimeout(
      () => controller.abort(new Interruption('timeout', timeLimitText(turnMilliseconds))),
      turnMilliseconds,
    );
    let failure: unknown;
    let hasEnded: () => void = () => undefined;
    const early = new Promise<void>((resolve) => {
      hasEnded = resolve;
    });
    const ending = work(controller.signal).then(
      async (): Promise<TurnOutcome> => {
        await this.endSession(context, { reason: 'complete', ...finalMessage(context) });
        return 'answered';
      },
      (error: unknown) => {
        failure = controller.signal.aborted ? controller.signal.reason : error;
        return this.end(error, { context, controller, hasEnded });
      },
    );
    const ended = Promise.race([early, ending]);
    this.turnEnd = ended.then(() => this.parts.log.published()).catch(() => undefined);
    const outcome = await ending;
    this.isAnswering = false;
    clearTimeout(timer);
    if (watch) void this.turnEnd.then(() => watch.end(failure));
    if (outcome !== 'stopped') await this.takeChosenModel();
    return outcome;
  }

  /** Telemetry sees all that is done for a prompt from here on. */
  private watch(interaction: Interaction): AgentWatch | undefined {
    const { observer, log } = this.parts;
    const watch = observer?.begin({ sessionId: log.sessionId }, interaction.options.trace);
    if (watch) interaction.watchedBy(watch);
    return watch;
  }

  private async end(error: unknown, turn: EndingTurn): Promise<TurnOutcome> {
    const { context, controller } = turn;
    const { signal } = controller;
    // A hook ends the turn: what still runs of it stops, too.
    if (error instanceof TurnAborted && !signal.aborted) controller.abort(error);
    const reason: unknown = signal.aborted ? signal.reason : error;
    const failed = [error, reason].find((each) => each instanceof StoreError);
    if (failed) return this.parts.storeFailed(failed);
    if (reason instanceof Interruption && reason.kind === 'close') return 'stopped';
    if (reason instanceof Interruption && reason.kind !== 'timeout') return this.endStopped(reason, turn);
    if (reason instanceof ErrorSkipped) {
      const outcome = await this.record(...this.promptEnd(), this.turnEndDraft());
      await this.endSession(context, { reason: 'complete' });
      return outcome;
    }
    const isLate = reason instanceof Interruption;
    const failure = isLate ? new LimitReached(reason.message) : reason;
    try {
      const { signal: unstopped } = new AbortController();
      await this.report(context, { error: failure, errorContext: 'system' }, unstopped);
    } catch (wish) {
      return this.end(wish, turn);
    }
    const data = errorData(failure);
    const outcome = await this.record(...this.promptEnd(), this.turnEndDraft(), {
      type: 'session.error',
      data,
    });
    await this.endSession(context, { reason: isLate ? 'timeout' : 'error', error: data.message });
    return outcome;
  }

  /** Who stopped the turn does not wait for the hooks at its end. */
  private async endStopped(reason: Interruption, { context, hasEnded }: EndingTurn): Promise<TurnOutcome> {
    const outcome = await this.recordInterruption(reason);
    hasEnded();
    await this.endSession(context, { reason: 'abort' });
    return outcome;
  }

  private async recordInterruption(interruption: Interruption): Promise<TurnOutcome> {
    if (interruption instanceof TurnAborted) {
      const aborted: Draft = { type: 'abort', data: { reason: interruption.reason } };
      await this.record(...this.promptEnd(), aborted, this.turnEndDraft());
      return 'aborted';
    }
    const { questions, calls } = agentOf(this.parts.log.latest);
    const cancelled = interruption.kind === 'suspend' ? questions : [];
    await this.record(
      ...cancelled.map((question) => cancellation(question, interruption.message)),
      ...calls.map((call): Draft => ({ note: 'call.interrupted', data: { toolCallId: call.toolCallId } })),
      ...this.promptEnd(),
      this.turnEndDraft(),
    );
    return 'aborted';
  }

  /** When a prompt is over, its output schema no longer applies, and autopilot no longer continues it. */
  private promptEnd(): Draft[] {
    const { output, stop, awaited } = agentOf(this.parts.log.latest);
    return [
      ...(output ? [{ note: 'output.settled' as const, data: {} }] : []),
      ...(stop?.isOpen || awaited !== undefined ? [{ note: 'stop.decided' as const, data: {} }] : []),
    ];
  }

  private turnEndDraft(): Draft | undefined {
    const { turn } = agentOf(this.parts.log.latest);
    return turn && { type: 'assistant.turn_end', data: { turnId: turn.turnId } };
  }
}

/** Where hooks look at a prompt before it is a message; `errorOccurred` of attachments that cannot be read. */
const promptPoints = ['userPromptSubmitted', 'userPromptTransformed', 'errorOccurred'] as const;

/** A turn that is over, whatever ended it. */
interface EndingTurn {
  readonly context: AgentContext;
  readonly controller: AbortController;
  /** The log says how it ended; only hooks are asked yet. */
  hasEnded(): void;
}

/** How long hooks may take after a turn that was stopped, or while the session is being closed. */
const endMilliseconds = { abort: 5_000, user_exit: 2_000 };

/** Hooks received it where it happened, or it is a bound that was reached. */
function isReported(failure: unknown): boolean {
  return failure instanceof ModelError || failure instanceof LimitReached;
}

function finalMessage({ log }: AgentContext): { readonly finalMessage?: string } {
  const outputs = log.latest.history.findLast((entry) => entry.role === 'assistant');
  return outputs ? { finalMessage: outputs.text } : {};
}
