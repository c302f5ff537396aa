import { ModelError } from '@groundcrew/models';
import { StoreError } from '@groundcrew/store';
import { reportError } from '../hooks/error-hooks.js';
import type { HookInput } from '../hooks/hooks.js';
import { ErrorSkipped, Interruption, TurnAborted } from '../interruption.js';
import type { Draft, SessionLog } from '../log/session-log.js';
import { agentOf } from '../log/state.js';
import type { TraceContext } from '../settings/session-settings.js';
import type { AgentContext, ReceivedPrompt } from '../turn/context.js';
import { deliver } from '../turn/deliver.js';
import { Interaction, type PromptExtras } from '../turn/interaction.js';
import { LimitReached, runUntilAnswered } from '../turn/turn.js';
import { errorData } from './failure.js';
import { continueTurn } from './recover.js';
import { cancellation, type Run, type TurnOutcome, timeLimitText } from './turn-outcome.js';

/** What the root agent works with; what belongs to one prompt is made for each. */
export interface RootAgentParts {
  readonly log: SessionLog;
  context(interaction: Interaction): AgentContext;
  newId(): string;
  /** The trace of sessions whose prompts name none. */
  trace(): TraceContext;
  /** Nothing can be written any more; says how the turn ends. */
  storeFailed(error: unknown): TurnOutcome;
}

/** Tells a sender that its prompt is safe, or why it is not. */
export interface Receipt {
  resolve(): void;
  reject(error: unknown): void;
}

/** The agent that the user talks to. It runs one prompt at a time to its end, whatever that is. */
export class RootAgent {
  /** Settles when the turn that runs has ended and clients have received that. */
  turnEnd: Promise<void> = Promise.resolve();

  constructor(private readonly parts: RootAgentParts) {}

  /** Runs a prompt until the model asks for no tool; `receipt` resolves when the prompt is stored. */
  answer(
    run: Run,
    { prompt, extras }: ReceivedPrompt,
    how: { readonly delivery: 'idle' | 'queued'; readonly receipt: Receipt },
  ): Promise<TurnOutcome> {
    const { log } = this.parts;
    const { receipt } = how;
    const context = this.contextFor(extras);
    return this.attempt(run, context, async (signal) => {
      if (log.state.nextModel) await this.takeChosenModel();
      // Hooks may take their time: a prompt they look at is acknowledged, and safe, before they have answered.
      const isAdmitted = how.delivery === 'idle' && !context.hooks.isEmpty;
      if (isAdmitted) this.admit(run, prompt, receipt);
      await deliver(prompt, { delivery: how.delivery, signal }, context).catch(async (error: unknown) => {
        receipt.reject(error);
        await this.reportPromptError(context, error, signal);
        throw error;
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
    const { turn } = agentOf(this.parts.log.state);
    if (!turn) return Promise.resolve('answered');
    const interaction = new Interaction(turn.interactionId, { trace: this.parts.trace() });
    interaction.rounds = Number(turn.turnId) + 1;
    const context = this.parts.context(interaction);
    return this.attempt(run, context, async (signal) => {
      if (await continueTurn(context, signal)) await runUntilAnswered(context, signal);
    });
  }

  /** Closes what a process before this one had left open. */
  closeInterrupted(): void {
    const { log } = this.parts;
    const { calls, turn } = agentOf(log.state);
    for (const { toolCallId } of calls) log.append({ note: 'call.interrupted', data: { toolCallId } });
    if (turn) log.append({ type: 'assistant.turn_end', data: { turnId: turn.turnId } });
  }

  /** Makes a prompt that waited a message for the next turn to answer. */
  deliverOnly({ prompt, extras }: ReceivedPrompt): Promise<void> {
    const { signal } = new AbortController();
    return deliver(prompt, { delivery: 'queued', signal }, this.contextFor(extras));
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

  private async reportPromptError(context: AgentContext, error: unknown, signal: AbortSignal): Promise<void> {
    if (signal.aborted || error instanceof StoreError) return;
    const message = error instanceof Error ? error.message : String(error);
    const input = { error: message, errorContext: 'user_input', recoverable: false };
    await reportError(context.hooks, input, signal);
  }

  /** What hooks are told at the end of a prompt, and what they say of the session. */
  private async endSession(context: AgentContext, end: HookInput<'sessionEnd'>): Promise<void> {
    const { hooks, log } = context;
    if (hooks.isEmpty) return;
    // The turn is over, and nothing stops what comes after it but time.
    const answers = await hooks.run('sessionEnd', end, new AbortController().signal);
    const outputs = answers.flatMap((answer) => ('output' in answer && answer.output ? [answer.output] : []));
    const summary = outputs.findLast(
      ({ sessionSummary }) => typeof sessionSummary === 'string',
    )?.sessionSummary;
    if (typeof summary === 'string') log.append({ note: 'settings.fixed', data: { summary } });
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
    const { turnMilliseconds } = context.session.limits;
    const timer = setTimeout(
      () => controller.abort(new Interruption('timeout', timeLimitText(turnMilliseconds))),
      turnMilliseconds,
    );
    const finished = work(controller.signal).then(
      async (): Promise<TurnOutcome> => {
        await this.endSession(context, { reason: 'complete', ...finalMessage(context) });
        return 'answered';
      },
      (error: unknown) => this.end(error, context, controller.signal),
    );
    this.turnEnd = finished.then(() => this.parts.log.published()).catch(() => undefined);
    const outcome = await finished;
    clearTimeout(timer);
    if (outcome !== 'stopped') await this.takeChosenModel();
    return outcome;
  }

  private async end(error: unknown, context: AgentContext, signal: AbortSignal): Promise<TurnOutcome> {
    const reason: unknown = signal.aborted ? signal.reason : error;
    const failed = [error, reason].find((each) => each instanceof StoreError);
    if (failed) return this.parts.storeFailed(failed);
    if (reason instanceof Interruption) {
      if (reason.kind === 'close') return 'stopped';
      if (reason.kind !== 'timeout') {
        const outcome = await this.recordInterruption(reason);
        await this.endSession(context, { reason: 'abort' });
        return outcome;
      }
    }
    if (reason instanceof ErrorSkipped) {
      const outcome = await this.record(this.turnEndDraft());
      await this.endSession(context, { reason: 'complete' });
      return outcome;
    }
    const failure = reason instanceof Interruption ? new LimitReached(reason.message) : reason;
    const data = errorData(failure);
    if (!isReported(failure)) {
      const input = { error: data.message, errorContext: 'system', recoverable: false };
      await reportError(context.hooks, input, new AbortController().signal);
    }
    const outcome = await this.record(this.turnEndDraft(), { type: 'session.error', data });
    const kind = reason instanceof Interruption ? 'timeout' : 'error';
    await this.endSession(context, { reason: kind, error: data.message });
    return outcome;
  }

  private async recordInterruption(interruption: Interruption): Promise<TurnOutcome> {
    if (interruption instanceof TurnAborted) {
      await this.record({ type: 'abort', data: { reason: interruption.reason } }, this.turnEndDraft());
      return 'aborted';
    }
    const { questions, calls } = agentOf(this.parts.log.latest);
    const cancelled = interruption.kind === 'suspend' ? questions : [];
    await this.record(
      ...cancelled.map((question) => cancellation(question, interruption.message)),
      ...calls.map((call): Draft => ({ note: 'call.interrupted', data: { toolCallId: call.toolCallId } })),
      this.turnEndDraft(),
    );
    return 'aborted';
  }

  private turnEndDraft(): Draft | undefined {
    const { turn } = agentOf(this.parts.log.latest);
    return turn && { type: 'assistant.turn_end', data: { turnId: turn.turnId } };
  }
}

/** Hooks were told of it where it happened, or it is a bound that was reached. */
function isReported(failure: unknown): boolean {
  return failure instanceof ModelError || failure instanceof LimitReached;
}

function finalMessage({ log }: AgentContext): { readonly finalMessage?: string } {
  const outputs = log.latest.history.findLast((entry) => entry.role === 'assistant');
  return outputs ? { finalMessage: outputs.text } : {};
}
