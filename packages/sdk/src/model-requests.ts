import {
  type Callbacks,
  callbacks,
  type Method,
  type Methods,
  type ParsedParams,
  read,
} from '@groundcrew/protocol';
import { ErrorCode, RpcError } from '@groundcrew/rpc';
import { toError } from './errors.js';
import type { Call } from './wire.js';

/** What a model call is for. */
export interface ModelRequestContext {
  /** Absent for calls that no session makes, such as the question for models. */
  readonly sessionId?: string;
  readonly agentId?: string;
  readonly interactionType?: string;
}

/**
 * Makes a model call in the runtime's place: over a proxy, with other headers, or not at all. The signal fires when
 * no caller waits for the answer any more; one that throws is a call that failed.
 */
export type ModelRequestHandler = (
  request: Request,
  context: ModelRequestContext,
  signal: AbortSignal,
) => Response | Promise<Response>;

type Start = ParsedParams<Callbacks['llmInference.httpRequestStart']>;
type Chunk = ParsedParams<Callbacks['llmInference.httpRequestChunk']>;
type AnswerChunk = Omit<ParsedParams<Methods['llmInference.httpResponseChunk']>, 'requestId'>;

/** The model calls that this app makes for its runtime. */
export class ModelRequests {
  private readonly open = new Map<string, OpenRequest>();

  constructor(
    private readonly handler: ModelRequestHandler,
    private readonly call: Call,
  ) {}

  /** Handles a message of the runtime about a model call; the call is answered separately. */
  async receive(method: string, params: unknown): Promise<object> {
    if (method === 'llmInference.httpRequestStart') this.start(parsed(method, params) as Start);
    else if (method === 'llmInference.httpRequestChunk') this.take(parsed(method, params) as Chunk);
    else throw new RpcError(ErrorCode.methodNotFound, `Unhandled method ${method}`);
    return {};
  }

  private start(start: Start): void {
    if (start.transport === 'websocket') void this.refuseSocket(start.requestId);
    else this.request(start.requestId).start = start;
  }

  /** A handler answers requests; the runtime then does without, where it can. */
  private async refuseSocket(requestId: string): Promise<void> {
    const message = 'This app makes model calls over HTTP only';
    await this.answer(requestId, Response.json({ error: { message } }, { status: 426 })).catch(isOver);
  }

  private take({ requestId, data, binary, end, cancel, cancelReason }: Chunk): void {
    const request = this.request(requestId);
    if (cancel) {
      this.open.delete(requestId);
      request.controller.abort(new DOMException(cancelReason ?? 'The call was cancelled', 'AbortError'));
      return;
    }
    request.body.push(Buffer.from(data, binary ? 'base64' : 'utf8'));
    if (end && request.start) void this.make(request.start, request);
  }

  private request(requestId: string): OpenRequest {
    const known = this.open.get(requestId);
    if (known) return known;
    const request: OpenRequest = { body: [], controller: new AbortController() };
    this.open.set(requestId, request);
    return request;
  }

  private async make(start: Start, { body, controller }: OpenRequest): Promise<void> {
    const { requestId, url, method, headers, sessionId, agentId, interactionType } = start;
    const { signal } = controller;
    try {
      const content = Buffer.concat(body);
      const flat = Object.entries(headers).flatMap(([name, values]) =>
        values.map((value): [string, string] => [name, value]),
      );
      const request = new Request(url, {
        method,
        headers: flat,
        signal,
        ...(content.byteLength > 0 && { body: content }),
      });
      const context = {
        ...(sessionId !== undefined && { sessionId }),
        ...(agentId !== undefined && { agentId }),
        ...(interactionType !== undefined && { interactionType }),
      };
      await this.answer(requestId, await this.handler(request, context, signal));
    } catch (thrown) {
      if (!signal.aborted)
        await this.send(requestId, { data: '', end: true, error: { message: toError(thrown).message } });
    } finally {
      this.open.delete(requestId);
    }
  }

  private async answer(requestId: string, { status, statusText, headers, body }: Response): Promise<void> {
    const values = [...headers].map(([name, value]) => [name, [value]]);
    await this.call('llmInference.httpResponseStart', {
      requestId,
      status,
      statusText,
      headers: Object.fromEntries(values),
    });
    for await (const chunk of body ?? []) {
      const data = Buffer.from(chunk).toString('base64');
      if (!(await this.send(requestId, { data, binary: true, end: false }))) return;
    }
    await this.send(requestId, { data: '', end: true });
  }

  private async send(requestId: string, chunk: AnswerChunk): Promise<boolean> {
    const { accepted } = await this.call('llmInference.httpResponseChunk', { requestId, ...chunk });
    return accepted;
  }
}

/** No caller waits for it any more. */
const isOver = (): undefined => undefined;

interface OpenRequest {
  start?: Start;
  readonly body: Uint8Array[];
  readonly controller: AbortController;
}

function parsed(method: keyof Callbacks, params: unknown): unknown {
  const { params: schema }: Method = callbacks[method];
  const result = read(schema, params);
  if (!result.success) throw new RpcError(ErrorCode.invalidParams, `${method}: ${result.error.message}`);
  return result.data;
}
