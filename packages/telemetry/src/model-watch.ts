import {
  ModelError,
  type ModelEvent,
  type ModelProvider,
  type ModelRequest,
  type ToolCall,
} from '@groundcrew/models';
import { type ModelAccess, withProvider } from '@groundcrew/runtime';
import { newMessages, outputMessages, systemInstructions, toolDefinitions } from './content.js';
import type { Meter } from './meter.js';
import { attributes as names, operations, spanEvents } from './names.js';
import type { SessionWatch } from './session-watch.js';
import { type Attributes, now, type Span } from './span.js';
import { readContext, type SpanContext, writeContext } from './trace-context.js';
import type { Tracer } from './tracer.js';

interface ModelWatchParts {
  readonly tracer: Tracer;
  readonly meter: Meter;
  readonly watch: SessionWatch;
}

/** Where calls of a service go, if that is known. */
interface Service {
  readonly baseUrl?: string | undefined;
  /** Whose interface it has, where its client said so. */
  readonly type?: string | undefined;
}

/** Watches the model calls of turns, summaries, sub-agents and MCP servers. */
export class WatchedModels {
  constructor(private readonly parts: ModelWatchParts) {}

  /** The same way to models; each call through it is a span, and goes out with the context of that. */
  of(access: ModelAccess, service: Service): ModelAccess {
    return withProvider(access, (own) => this.provider(own, service));
  }

  private provider(provider: ModelProvider, service: Service): ModelProvider {
    const { parts } = this;
    return {
      id: provider.id,
      models: (signal) => provider.models(signal),
      stream: (request, signal) => new WatchedCall(parts, { provider, service, request }).run(signal),
    };
  }
}

/** One call, with the attempts that the provider makes of it. */
class WatchedCall {
  private readonly span: Span;
  private readonly parent: SpanContext | undefined;
  private readonly common: Attributes;
  private text = '';
  private readonly calls: ToolCall[] = [];
  private firstAt = 0;
  private attempts = 1;

  constructor(
    private readonly parts: ModelWatchParts,
    private readonly call: {
      readonly provider: ModelProvider;
      readonly service: Service;
      readonly request: ModelRequest;
    },
  ) {
    const { request, provider, service } = call;
    const { traceparent, tracestate } = request.headers ?? {};
    this.parent = readContext({ traceparent, tracestate });
    this.common = {
      [names.operation]: operations.chat,
      [names.provider]: providerName(provider, service),
      [names.requestModel]: request.model,
      ...addressOf(service),
    };
    this.span = parts.tracer.start({
      name: `${operations.chat} ${request.model}`,
      parent: this.parent,
      isCall: true,
      attributes: { ...this.common, ...about(request) },
    });
    if (parts.tracer.capturesContent)
      this.span.set({
        [names.inputMessages]: newMessages(request),
        [names.systemInstructions]: systemInstructions(request),
        [names.toolDefinitions]: toolDefinitions(request),
      });
  }

  async *run(signal: AbortSignal): AsyncGenerator<readonly ModelEvent[]> {
    const { provider, request } = this.call;
    const headers = { ...request.headers, ...writeContext(this.span.context) };
    let isOver = false;
    try {
      for await (const batch of provider.stream({ ...request, headers }, signal)) {
        for (const event of batch) this.take(event);
        yield batch;
      }
      isOver = true;
    } catch (error) {
      isOver = true;
      this.fail(error, signal);
      throw error;
    } finally {
      if (!isOver) this.span.set({ [names.aborted]: true });
      this.close();
    }
  }

  private take(event: ModelEvent): void {
    if (event.type === 'end') this.end(event);
    else if (event.type === 'retry') this.retry(event);
    else this.note(event);
  }

  private note(event: Exclude<ModelEvent, { type: 'end' | 'retry' }>): void {
    if (this.firstAt === 0) this.firstAt = now();
    if (!this.parts.tracer.capturesContent) return;
    if (event.type === 'text') this.text += event.delta;
    if (event.type === 'tool_call') this.calls.push(event.call);
  }

  private retry({ error, attempt, delayMs }: Extract<ModelEvent, { type: 'retry' }>): void {
    this.parts.meter.record('retries', 1, { ...this.common, [names.errorType]: errorType(error) });
    this.span.add(spanEvents.retry, {
      [names.attempt]: attempt,
      [names.retryDelay]: delayMs / 1000,
      [names.errorType]: errorType(error),
    });
    this.attempts += 1;
    this.text = '';
    this.calls.length = 0;
    this.firstAt = 0;
  }

  private end({ reason, usage, model, responseId }: Extract<ModelEvent, { type: 'end' }>): void {
    const { span } = this;
    const { requestModel } = names;
    const responseModel = model ?? String(this.common[requestModel]);
    const first = this.firstAt === 0 ? undefined : (this.firstAt - span.startedAt) / 1000;
    const output = this.parts.tracer.capturesContent
      ? outputMessages({ text: this.text, calls: this.calls }, reason)
      : undefined;
    const used = {
      [names.inputTokens]: usage.inputTokens,
      [names.outputTokens]: usage.outputTokens,
      ...(usage.cacheReadTokens > 0 && { [names.cacheReadTokens]: usage.cacheReadTokens }),
      ...(usage.cacheWriteTokens > 0 && { [names.cacheWriteTokens]: usage.cacheWriteTokens }),
      ...(usage.reasoningTokens > 0 && { [names.reasoningTokens]: usage.reasoningTokens }),
    };
    span.set({
      ...used,
      [names.finishReasons]: [reason],
      [names.responseModel]: responseModel,
      [names.responseId]: responseId,
      [names.timeToFirstChunk]: first,
      [names.outputMessages]: output,
    });
    const { meter } = this.parts;
    const where = { ...this.common, [names.responseModel]: responseModel };
    if (first !== undefined) meter.record('timeToFirstChunk', first, where);
    if (usage.inputTokens > 0)
      meter.record('tokenUsage', usage.inputTokens, { ...where, [names.tokenType]: 'input' });
    if (usage.outputTokens > 0)
      meter.record('tokenUsage', usage.outputTokens, { ...where, [names.tokenType]: 'output' });
    this.parts.watch.answered(this.parent?.spanId, {
      usage: used,
      model: responseModel,
      reason,
      provider: String(this.common[names.provider]),
      requestModel: this.call.request.model,
      input: span.attribute(names.inputMessages),
      output,
    });
  }

  private fail(error: unknown, signal: AbortSignal): void {
    if (signal.aborted) {
      this.span.set({ [names.aborted]: true });
      return;
    }
    const said = error instanceof Error ? error.message : String(error);
    const message = this.parts.tracer.failureText(said, `The model call failed: ${errorType(error)}`);
    this.span.set({ [names.errorType]: errorType(error) });
    this.span.add(spanEvents.exception, {
      [names.exceptionType]: errorType(error),
      [names.exceptionMessage]: message,
    });
    this.span.fail(message);
  }

  private close(): void {
    const { span, parts, attempts } = this;
    if (attempts > 1) span.set({ [names.attempts]: attempts });
    const failed = span.attribute(names.errorType);
    const responseModel = span.attribute(names.responseModel);
    parts.meter.record('operationDuration', span.end(), {
      ...this.common,
      ...(responseModel !== undefined && { [names.responseModel]: responseModel }),
      ...(failed !== undefined && { [names.errorType]: failed }),
    });
  }
}

function about({ stream, origin, maxOutputTokens }: ModelRequest): Attributes {
  return {
    [names.requestStream]: stream,
    ...(maxOutputTokens !== undefined && { [names.requestMaxTokens]: maxOutputTokens }),
    ...(origin && {
      [names.conversation]: origin.sessionId,
      [names.interactionId]: origin.interactionId,
      [names.initiator]: origin.initiator,
      [names.interactionType]: origin.interactionType,
    }),
    ...(origin?.agentId !== undefined && { [names.agentId]: origin.agentId }),
  };
}

/** What kind of failure it is: the status of the answer, where there was one. */
function errorType(error: unknown): string {
  if (!(error instanceof ModelError)) return error instanceof Error ? error.name : 'error';
  return error.statusCode === undefined ? error.kind : String(error.statusCode);
}

function addressOf({ baseUrl }: Service): Attributes {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return {};
  const { hostname, port, protocol } = new URL(baseUrl);
  const usual = protocol === 'http:' ? 80 : 443;
  return { [names.serverAddress]: hostname, [names.serverPort]: port === '' ? usual : Number(port) };
}

const knownProviders: Readonly<Record<string, string>> = { azure: 'azure.ai.openai' };

/** A word, and not an address. */
function providerName({ id }: ModelProvider, { type }: Service): string {
  const name = type ?? (/^https?:/.test(id) ? 'openai' : id);
  return Object.hasOwn(knownProviders, name) ? (knownProviders[name] ?? name) : name;
}
