import type { EventData, SessionEvent } from '@groundcrew/protocol';
import type { CommandDefinition } from './commands.js';
import { GroundcrewError, toError } from './errors.js';
import type { Report } from './handler-failure.js';
import { HandlerQuestions } from './handler-questions.js';
import type { SessionLimitsHandler } from './session-limits.js';
import type { ElicitationHandler, ElicitationResult } from './session-options.js';
import type { Call } from './wire.js';

/** What the answers need of their session. */
export interface RequestAnswersOptions {
  readonly sessionId: string;
  readonly onElicitationRequest?: ElicitationHandler;
  readonly onSessionLimitsRequest?: SessionLimitsHandler;
  readonly commands?: readonly CommandDefinition[];
  readonly call: Call;
  readonly report: Report;
}

type Form = EventData<'elicitation.requested'>;
type Command = EventData<'command.execute'>;

/** Answers requests that belong to no turn: forms and pages to show, and slash commands of the app. */
export class RequestAnswers {
  private readonly answering = new HandlerQuestions();

  constructor(private readonly options: RequestAnswersOptions) {
    this.answering.stillOpen([]);
  }

  receive(event: SessionEvent): void {
    if (event.type === 'elicitation.requested') void this.show(event.data);
    if (event.type === 'command.execute') void this.run(event.data);
    if (event.type === 'session_limits_exhausted.requested') void this.askAboutLimit(event.data);
    if (
      event.type === 'elicitation.completed' ||
      event.type === 'command.completed' ||
      event.type === 'session_limits_exhausted.completed'
    )
      this.answering.cancel(({ requestId }) => requestId === event.data.requestId);
  }

  /** Shows a form; one that the handler was given before is not given to it twice, unless its answer did not fit. */
  async show(data: Form): Promise<void> {
    const { requestId } = data;
    const signal = this.options.onElicitationRequest && this.answering.begin({ requestId });
    if (!signal) return;
    let problem: string | undefined;
    for (let left = mostTries; left > 0; left -= 1) {
      try {
        return await this.showOnce(data, problem, signal);
      } catch (error) {
        const isRefused = error instanceof Error && !(error instanceof GroundcrewError);
        problem = isRefused ? error.message : undefined;
        if (problem !== undefined && left > 1 && !signal.aborted) continue;
        this.answering.finish({ requestId }, signal);
        return this.unsent('onElicitationRequest', error);
      }
    }
  }

  /** Asks the app how a session continues that has reached a limit; if its handler throws, other clients may answer. */
  async askAboutLimit({
    requestId,
    ...request
  }: EventData<'session_limits_exhausted.requested'>): Promise<void> {
    const { onSessionLimitsRequest: handler, sessionId, call } = this.options;
    const signal = handler && this.answering.begin({ requestId });
    if (!handler || !signal) return;
    try {
      const response = await handler(request, { sessionId, requestId }, signal);
      if (!this.answering.finish({ requestId }, signal)) return;
      await call('session.ui.handlePendingSessionLimitsExhausted', { sessionId, requestId, response });
    } catch (error) {
      this.answering.finish({ requestId }, signal);
      if (!signal.aborted) this.unsent('onSessionLimitsRequest', error);
    }
  }

  /** Throws when the answer is refused. */
  private async showOnce(data: Form, problem: string | undefined, signal: AbortSignal): Promise<void> {
    const { onElicitationRequest: handler, sessionId, call } = this.options;
    const { requestId, ...request } = data;
    if (!handler) return;
    const invocation = { sessionId, requestId, ...(problem !== undefined && { problem }) };
    const result = await this.filledIn(() => handler({ ...request, sessionId }, invocation, signal), signal);
    if (signal.aborted) return;
    const { action, content } = result;
    const sent = { action, ...(content && { content: { ...content } }) };
    await call('session.ui.handlePendingElicitation', { sessionId, requestId, result: sent });
    this.answering.finish({ requestId }, signal);
  }

  /** Cancels what is being answered. */
  end(): void {
    this.answering.cancel(() => true);
  }

  /** A handler that throws has shown nothing: the form is cancelled. */
  private async filledIn(
    ask: () => ElicitationResult | Promise<ElicitationResult>,
    signal: AbortSignal,
  ): Promise<ElicitationResult> {
    try {
      return await ask();
    } catch (thrown) {
      if (!signal.aborted) this.report('onElicitationRequest', thrown);
      return { action: 'cancel' };
    }
  }

  private async run({ requestId, command, commandName, args }: Command): Promise<void> {
    const { commands = [], sessionId, call } = this.options;
    const handler = commands.find(({ name }) => name === commandName)?.handler;
    const question = { requestId };
    const signal = handler && this.answering.begin(question);
    if (!handler || !signal) return;
    const error = await outcomeOf(() => handler({ sessionId, command, commandName, args }, signal));
    if (error && !signal.aborted) this.report(commandName, error);
    if (!this.answering.finish(question, signal)) return;
    const answer = { sessionId, requestId, ...(error && { error: error.message }) };
    await call('session.commands.handlePendingCommand', answer).catch((failure: unknown) =>
      this.unsent(commandName, failure),
    );
  }

  private unsent(name: string, error: unknown): void {
    if (!(error instanceof GroundcrewError)) this.report(name, error);
  }

  private report(name: string, error: unknown): void {
    this.options.report({ handler: 'callback', name, sessionId: this.options.sessionId }, error);
  }
}

/** How often a handler is asked for an answer that fits. */
const mostTries = 5;

/** What a command threw, if it did. */
async function outcomeOf(run: () => unknown): Promise<Error | undefined> {
  try {
    await run();
    return undefined;
  } catch (thrown) {
    return toError(thrown);
  }
}
