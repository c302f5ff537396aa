import type { EventData, PermissionDecision, SessionEvent } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import { readArguments, type Tool, type ToolInvocation } from './define-tool.js';
import { GroundcrewError, isConnectionLost, toError } from './errors.js';
import type { Report } from './handler-failure.js';
import { HandlerQuestions } from './handler-questions.js';
import type { PendingQuestion } from './pending-questions.js';
import type { PermissionHandler, PermissionRequestResult } from './permission.js';
import { RequestAnswers, type RequestAnswersOptions } from './request-answers.js';
import { badArguments, type ToolResultObject, toolResult } from './tool-result.js';
import type { Call } from './wire.js';

/** What answers need of their session. */
export interface AnswersOptions {
  readonly sessionId: string;
  readonly tools?: readonly Tool[];
  readonly onPermissionRequest?: PermissionHandler;
  readonly onElicitationRequest?: RequestAnswersOptions['onElicitationRequest'];
  readonly onSessionLimitsRequest?: RequestAnswersOptions['onSessionLimitsRequest'];
  readonly commands?: RequestAnswersOptions['commands'];
  readonly call: Call;
  readonly report: Report;
}

type ToolCall = EventData<'external_tool.requested'>;
type ToolAnswer = { readonly result?: string | ToolResultObject; readonly error?: string };

/** Answers what the runtime asks by events: calls of the app's tools, and permission. */
export class Answers {
  private readonly tools: ReadonlyMap<string, Tool>;
  private readonly answering = new HandlerQuestions();
  private readonly requests: RequestAnswers;
  private moves = 0;
  /** Questions that handlers were at when the connection was lost. */
  private fromBefore: ReadonlySet<string> = new Set();

  constructor(private readonly options: AnswersOptions) {
    this.requests = new RequestAnswers(options);
    this.tools = new Map(options.tools?.map((tool) => [tool.name, tool]));
  }

  /** Starts to answer; a handler that does not wait has answered when this returns. */
  receive(event: SessionEvent): void {
    this.requests.receive(event);
    switch (event.type) {
      case 'external_tool.requested':
        this.serve(event.data, event.agentId);
        break;
      case 'permission.requested':
        this.decide(event.data, event.agentId);
        break;
      case 'external_tool.completed':
      case 'permission.completed':
        this.answering.cancel(({ requestId }) => requestId === event.data.requestId);
        break;
      case 'tool.execution_complete':
        this.answering.cancel(({ toolCallId }) => toolCallId === event.data.toolCallId);
        break;
      case 'abort':
        this.answering.cancel(({ agentId }) => event.agentId === undefined || agentId === event.agentId);
        break;
      case 'session.idle':
        this.endTurn();
        break;
      case 'session.shutdown':
        this.end();
        break;
      default:
        break;
    }
  }

  /** The session goes on over another connection. What is received there counts against the list that `catchUp` fetches. */
  move(): void {
    this.moves += 1;
    this.fromBefore = this.answering.atWork;
    this.answering.keepEndRules();
  }

  /** Fetches the open questions and catches up with them. */
  async fetchAndCatchUp(
    fetch: () => Promise<readonly PendingQuestion[]>,
    mayAnswer: (requestId: string) => boolean,
  ): Promise<void> {
    const { fromBefore } = this;
    try {
      const open = await fetch();
      this.cancelUnlisted(open, fromBefore);
      this.catchUp(open, mayAnswer);
    } catch (error) {
      this.unsent('callback', 'session.questions.pending', error);
      this.catchUp([], mayAnswer);
    }
  }

  /** Puts those open questions to handlers that were asked before anything was received here, each only once. */
  catchUp(open: readonly PendingQuestion[], mayAnswer: (requestId: string) => boolean): void {
    for (const question of this.answering.stillOpen(open)) {
      if (!mayAnswer(question.requestId)) continue;
      // What the agent asks, the runtime puts to this client again by itself.
      if (question.kind === 'permission') this.decide(question.data);
      if (question.kind === 'external_tool') this.serve(question.data);
      if (question.kind === 'elicitation') void this.requests.show(question.data);
      if (question.kind === 'session_limits') void this.requests.askAboutLimit(question.data);
    }
  }

  /** Whether a handler is at work on the question. */
  isAt(requestId: string): boolean {
    return this.answering.isAt(requestId);
  }

  /** Cancels all that is being answered; after a lost connection, results that come too late are reported. */
  end(reason?: GroundcrewError): void {
    this.requests.end();
    this.endTurn(reason);
  }

  private endTurn(reason?: GroundcrewError): void {
    this.answering.cancel(() => true, isConnectionLost(reason) ? reason : undefined);
  }

  private serve(data: ToolCall, agentId?: string): void {
    const tool = this.tools.get(data.toolName);
    if (!tool?.handler) return;
    const { requestId, toolCallId } = data;
    const question = { requestId, toolCallId, agentId };
    const signal = this.answering.begin(question);
    if (!signal) return;
    const answer = (given: ToolAnswer) => {
      if (this.answering.finish(question, signal)) this.answerToolCall(data, given);
    };
    settle(
      () => this.run(tool, data, signal),
      (returned) => {
        answer({ result: toolResult(returned) });
        if (signal.reason instanceof GroundcrewError) void this.reportUndelivered(data, signal.reason);
      },
      (thrown) => {
        if (!signal.aborted) this.report('tool', tool.name, thrown);
        answer({ error: toError(thrown).message });
      },
    );
  }

  private run(tool: Tool, data: ToolCall, signal: AbortSignal): unknown {
    const invocation = invocationOf(data, this.options.sessionId);
    const reading = readArguments(tool, data.arguments);
    if (reading === undefined) return tool.handler?.(data.arguments ?? {}, invocation, signal);
    return reading.then((read) =>
      read.success ? tool.handler?.(read.data, invocation, signal) : badArguments(tool.name, read.reason),
    );
  }

  private answerToolCall(data: ToolCall, answer: ToolAnswer): void {
    const { call, sessionId } = this.options;
    const { requestId, toolName } = data;
    const { moves } = this;
    call('session.tools.handlePendingToolCall', { sessionId, requestId, ...answer }).then(
      ({ success }) => {
        if (!success && this.moves > moves) void this.reportUndelivered(data, noLongerOpen());
      },
      (error: unknown) => {
        if (isConnectionLost(error)) void this.reportUndelivered(data, error);
        else this.unsent('tool', toolName, error);
      },
    );
  }

  /** A call that some answer has closed needs no other: the first one counts, and may have been this one. */
  private async reportUndelivered(
    { requestId, toolCallId, toolName }: ToolCall,
    cause: GroundcrewError,
  ): Promise<void> {
    const { call, sessionId } = this.options;
    const log = await call('session.getMessages', { sessionId }).catch(() => undefined);
    const events = (log?.events ?? []) as readonly SessionEvent[]; // what the runtime stores, it names as the table does
    if (events.some(({ type, data }) => type === 'external_tool.completed' && data.requestId === requestId))
      return;
    const text = `The result of ${toolName} (call ${toolCallId}) could not be delivered: ${cause.message}`;
    this.report('tool', toolName, new GroundcrewError('not_delivered', text, { cause }));
  }

  /** Questions of the lost connection that the runtime does not list are over. */
  private cancelUnlisted(listed: readonly PendingQuestion[], fromBefore: ReadonlySet<string>): void {
    const open = new Set(listed.map(({ requestId }) => requestId));
    this.answering.cancel(
      ({ requestId }) => fromBefore.has(requestId) && !open.has(requestId),
      noLongerOpen(),
    );
  }

  private decide(data: EventData<'permission.requested'>, agentId?: string): void {
    const handler = this.options.onPermissionRequest;
    if (!handler || data.resolvedByHook) return;
    const { requestId, permissionRequest, promptRequest } = data;
    const { sessionId } = this.options;
    const invocation = { sessionId, requestId, ...(promptRequest && { promptRequest }) };
    const { kind, toolCallId } = permissionRequest;
    const question = { requestId, toolCallId, agentId };
    const signal = this.answering.begin(question);
    if (!signal) return;
    const answer = (decision: PermissionRequestResult) => {
      if (!this.answering.finish(question, signal) || decision.kind === 'no-result') return;
      this.send(requestId, decision).catch((error: unknown) => this.unsent('permission', kind, error));
    };
    settle(
      () => handler(permissionRequest, invocation, signal),
      (decision) => answer(checked(decision)),
      (thrown) => {
        if (!signal.aborted) this.report('permission', kind, thrown);
        answer(denied);
      },
    );
  }

  /** A decision the runtime cannot read leaves the question open: then it is a no. */
  private async send(requestId: string, result: PermissionDecision): Promise<void> {
    const { call, sessionId } = this.options;
    const method = 'session.permissions.handlePendingPermissionRequest';
    try {
      await call(method, { sessionId, requestId, result });
    } catch (error) {
      if (!(error instanceof RpcError) || result === denied) throw error;
      this.report('permission', result.kind, error);
      await call(method, { sessionId, requestId, result: denied });
    }
  }

  /** A session or connection that is gone is reported elsewhere. */
  private unsent(handler: 'tool' | 'permission' | 'callback', name: string, error: unknown): void {
    if (!(error instanceof GroundcrewError)) this.report(handler, name, error);
  }

  private report(handler: 'tool' | 'permission' | 'callback', name: string, error: unknown): void {
    this.options.report({ handler, name, sessionId: this.options.sessionId }, error);
  }
}

function noLongerOpen(): GroundcrewError {
  return new GroundcrewError('not_delivered', 'the runtime does not wait for it any more');
}

const denied: Extract<PermissionRequestResult, { kind: 'user-not-available' }> = {
  kind: 'user-not-available',
};

/** Goes on at once where nothing has to be waited for; what fails on the way there, or then, is an error. */
function settle<T>(
  work: () => T | Promise<T>,
  onValue: (value: T) => void,
  onError: (thrown: unknown) => void,
): void {
  try {
    const given = work();
    if (isPromise(given)) Promise.resolve(given).then(onValue).catch(onError);
    else onValue(given);
  } catch (thrown) {
    onError(thrown);
  }
}

function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

function checked(decision: PermissionRequestResult): PermissionRequestResult {
  if (typeof decision?.kind === 'string') return decision;
  throw new GroundcrewError('invalid_option', 'A permission handler must return a decision');
}

function invocationOf(data: ToolCall, sessionId: string): ToolInvocation {
  const { toolCallId, toolName, arguments: given, workingDirectory, traceparent, tracestate } = data;
  return {
    sessionId,
    toolCallId,
    toolName,
    arguments: given,
    ...(workingDirectory !== undefined && { workingDirectory }),
    ...(traceparent !== undefined && { traceparent }),
    ...(tracestate !== undefined && { tracestate }),
  };
}
