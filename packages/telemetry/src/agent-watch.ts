import type { Observer } from '@groundcrew/runtime';
import type { Meter } from './meter.js';
import { attributes as names, operations, spanEvents } from './names.js';
import type { Attributes, Span } from './span.js';
import { type SpanContext, writeContext } from './trace-context.js';
import type { Tracer } from './tracer.js';

type AgentWatch = ReturnType<Observer['begin']>;
type ObservedAgent = Parameters<Observer['begin']>[0];
type TraceContext = AgentWatch['trace'];

/** What a model call gave its agent. */
export interface Answered {
  readonly usage: Readonly<Record<string, number>>;
  readonly model: string;
  readonly requestModel: string;
  readonly provider: string;
  readonly reason: string;
  readonly input: string | undefined;
  readonly output: string | undefined;
}

interface AgentParts {
  readonly tracer: Tracer;
  readonly meter: Meter;
  place(sessionId: string, toolCallId: string, make: () => SpanContext): SpanContext;
}

/** One agent at work on a prompt: the span that all it does stands under. */
export class WatchedAgent implements AgentWatch {
  readonly trace: TraceContext;
  readonly context: SpanContext;
  private readonly span: Span;
  private readonly totals: Record<string, number> = {};
  private last: Answered | undefined;
  private modelCalls = 0;
  private toolCalls = 0;
  private failureText: string | undefined;
  private ended: () => void = () => undefined;

  constructor(
    private readonly agent: ObservedAgent,
    parent: SpanContext | undefined,
    private readonly parts: AgentParts,
  ) {
    const { name, description } = agent;
    this.span = parts.tracer.start({
      name: name === undefined ? operations.agent : `${operations.agent} ${name}`,
      parent,
      attributes: {
        [names.operation]: operations.agent,
        [names.conversation]: agent.sessionId,
        [names.agentId]: agent.agentId ?? 'groundcrew.default',
        [names.agentVersion]: parts.tracer.version,
        [names.agentType]: agent.agentId === undefined ? 'builtin' : 'subagent',
        ...(name !== undefined && { [names.agentName]: name }),
        ...(description !== undefined && { [names.agentDescription]: description }),
      },
    });
    this.context = this.span.context;
    this.trace = writeContext(this.context);
  }

  toolTrace(toolCallId: string): TraceContext {
    const { tracer } = this.parts;
    return writeContext(
      this.parts.place(this.agent.sessionId, toolCallId, () => tracer.contextUnder(this.context)),
    );
  }

  /** The provider that its newest answer is from. */
  get provider(): Attributes {
    return this.last ? { [names.provider]: this.last.provider } : {};
  }

  answered(answer: Answered): void {
    const { span, totals, last } = this;
    if (!last)
      span.set({
        [names.provider]: answer.provider,
        [names.requestModel]: answer.requestModel,
        [names.inputMessages]: answer.input,
      });
    for (const [name, count] of Object.entries(answer.usage)) totals[name] = (totals[name] ?? 0) + count;
    this.last = answer;
    this.modelCalls += 1;
  }

  countTool(): void {
    this.toolCalls += 1;
  }

  /** The session has reported an error while it worked. */
  fail(type: string, message: string): void {
    const text = this.parts.tracer.failureText(message, `The agent failed: ${type}`);
    this.failureText = text;
    this.span.set({ [names.errorType]: type });
    this.span.add(spanEvents.exception, { [names.exceptionType]: type, [names.exceptionMessage]: text });
  }

  onEnd(ended: () => void): void {
    this.ended = ended;
  }

  end(failure?: unknown): void {
    const { span, last } = this;
    if (isInterruption(failure)) span.set({ [names.aborted]: true });
    else if (failure !== undefined && this.failureText === undefined)
      this.fail(
        failure instanceof Error ? failure.name : 'error',
        failure instanceof Error ? failure.message : String(failure),
      );
    if (this.failureText !== undefined) span.fail(this.failureText);
    span.set({ ...this.totals, [names.turnCount]: this.modelCalls });
    if (last)
      span.set({
        [names.responseModel]: last.model,
        [names.finishReasons]: [last.reason],
        [names.outputMessages]: last.output,
      });
    this.measure(span.end());
    this.ended();
  }

  private measure(seconds: number): void {
    const { meter } = this.parts;
    const { name } = this.agent;
    const { last } = this;
    const type = this.span.attribute(names.errorType);
    const named: Attributes = name === undefined ? {} : { [names.agentName]: name };
    const failed: Attributes = type === undefined ? {} : { [names.errorType]: type };
    meter.record('operationDuration', seconds, {
      [names.operation]: operations.agent,
      ...(last && { [names.provider]: last.provider, [names.requestModel]: last.requestModel }),
      ...failed,
    });
    meter.record('agentDuration', seconds, { ...named, ...failed });
    meter.record('agentCalls', this.modelCalls, named);
    meter.record('agentTools', this.toolCalls, named);
    meter.record('agentTurns', this.modelCalls, { [names.operation]: operations.agent });
  }
}

/** A user, a client or the end of the session stopped it: that is no error. */
function isInterruption(failure: unknown): boolean {
  return failure instanceof Error && 'kind' in failure && stops.has(String(failure.kind));
}

const stops: ReadonlySet<string> = new Set(['abort', 'close', 'suspend', 'superseded']);
