import { setMaxListeners } from 'node:events';
import { type Call, RunningCall } from './call.js';
import type { Channel } from './channel.js';
import { ErrorCode, FramingError, RpcError } from './errors.js';
import {
  bodyBytes,
  type Encoded,
  type ErrorObject,
  encodePieces,
  encodeRaw,
  type Failure,
  type Message,
  type Notification,
  RawJson,
  RawPieces,
  type Request,
  type RequestId,
  type Success,
} from './message.js';
import { Oversized } from './oversized.js';

/** What a connection does with requests and notifications of its peer. */
export interface ConnectionHandlers {
  /** Started in the order of arrival; answered whenever it settles, `undefined` as `null`. */
  onRequest(method: string, params: unknown, call: Call): Promise<unknown>;
  onNotification?(method: string, params: unknown): void;
  /** Words for an error that is no RpcError; without it the peer gets `internal` and the error's message. */
  describeError?(method: string, error: unknown): ErrorObject;
}

/** How much a connection takes on before it refuses or stops reading. */
export interface ConnectionOptions {
  /** Requests of the peer in progress; one more is refused at once as retryable. 4096 by default. */
  readonly maxConcurrentRequests?: number;
  /**
   * Unsent bytes over which nothing more is read until the peer has caught up, so that one that never reads cannot
   * fill our memory; 16 MiB by default. It is far over the channel's own mark, because answers to our
   * requests come by the same road. Two peers that owe each other that much would wait for ever: the side that
   * trusts the other, usually the client, sets it to Infinity.
   */
  readonly maxQueuedBytes?: number;
  /**
   * Milliseconds for which messages that came together are handled before the process does anything else; without a bound by
   * default. One that serves many peers sets it: thousands of small requests of one would hold up all others.
   */
  readonly longestTurnMs?: number;
}

/** Correlates requests with responses over one channel. Knows no method by name but `$/cancelRequest`. */
export class Connection {
  /** Resolves when the channel has ended, for whatever reason; never rejects. */
  readonly closed: Promise<void>;
  private readonly pending = new Map<RequestId, Pending>();
  private readonly running = new Map<RequestId, RunningCall>();
  private readonly maxConcurrentRequests: number;
  private readonly maxQueuedBytes: number;
  private readonly longestTurnMs: number;
  private nextId = 1;
  private ended = false;

  constructor(
    private readonly channel: Channel,
    private readonly handlers: ConnectionHandlers,
    options: ConnectionOptions = {},
  ) {
    this.maxConcurrentRequests = options.maxConcurrentRequests ?? 4096;
    this.maxQueuedBytes = options.maxQueuedBytes ?? 16 * 1024 * 1024;
    this.longestTurnMs = options.longestTurnMs ?? Number.POSITIVE_INFINITY;
    this.closed = this.receive();
  }

  /** Rejects with the peer's RpcError; when aborted, at once with the signal's reason, and the peer is notified. */
  request(method: string, params?: unknown, signal?: AbortSignal): Promise<unknown> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.ended) throw connectionClosed();
      const id = this.nextId;
      this.nextId += 1;
      this.channel.send({ jsonrpc: '2.0', id, method, params });
      const release = onAbort(signal, (reason) => {
        this.pending.delete(id);
        this.notify(cancelMethod, { id });
        reject(reason);
      });
      this.pending.set(id, { resolve, reject, release });
    });
  }

  /** False means the peer is behind, or gone. */
  notify(method: string, params?: unknown): boolean {
    return this.channel.send({ jsonrpc: '2.0', method, params });
  }

  /** Sends a notification that was serialised before, for this peer and others. */
  send(encoded: Encoded): boolean {
    return this.channel.send(encoded);
  }

  /** Resolves when the peer has caught up or is gone. */
  drained(): Promise<void> {
    return this.channel.drained();
  }

  /** Hands over what was sent, then ends: requests of both sides fail as when the peer is gone. */
  async close(): Promise<void> {
    this.end();
    await this.channel.close();
    await this.closed;
  }

  private async receive(): Promise<void> {
    let began = performance.now();
    try {
      for await (const message of this.channel.messages) {
        this.route(message);
        if (this.channel.queuedBytes > this.maxQueuedBytes) await this.channel.drained();
        if (performance.now() - began < this.longestTurnMs) continue;
        await othersTurn();
        began = performance.now();
      }
    } catch (error) {
      this.explain(error);
    }
    this.end();
    void this.channel.close();
  }

  private route(message: Message): void {
    if (!('method' in message)) this.settle(message);
    else if ('id' in message) this.accept(message);
    else if (message.method === cancelMethod) this.cancel(message.params);
    else this.handleNotification(message);
  }

  private settle(response: Success | Failure): void {
    const waiter = this.pending.get(response.id);
    if (waiter === undefined) return;
    this.pending.delete(response.id);
    waiter.release();
    const error = 'error' in response ? response.error : null; // some peers send `error: null` beside a result
    if (error === null) waiter.resolve('result' in response ? response.result : null);
    else waiter.reject(new RpcError(error.code, error.message, error.data));
  }

  private accept(request: Request): void {
    const refusal = this.refusalOf(request);
    if (refusal !== undefined) {
      this.fail(request.id, refusal);
      return;
    }
    const call = new RunningCall(request[bodyBytes]);
    this.running.set(request.id, call);
    this.answer(request, call).catch((error: unknown) => this.fail(request.id, internalError(error)));
  }

  private refusalOf(request: Request): ErrorObject | undefined {
    if (request.params instanceof Oversized) return request.params.refusal;
    if (this.running.size >= this.maxConcurrentRequests) return overloaded;
    return this.running.has(request.id) ? idInUse : undefined;
  }

  /** Rejects only when the answer itself could not be made: a result JSON cannot hold, a describeError that throws. */
  private async answer(request: Request, call: RunningCall): Promise<void> {
    const { id, method, params } = request;
    try {
      const result = await this.handlers.onRequest(method, params, call);
      this.channel.send(success(id, result));
    } catch (error) {
      this.fail(id, this.describe(method, error));
    } finally {
      this.running.delete(id);
    }
  }

  private describe(method: string, error: unknown): ErrorObject {
    if (error instanceof RpcError) return { code: error.code, message: error.message, data: error.data };
    return this.handlers.describeError?.(method, error) ?? internalError(error);
  }

  private fail(id: RequestId, error: ErrorObject): void {
    this.channel.send(failure(id, error));
  }

  private handleNotification(notification: Notification): void {
    if (notification.params instanceof Oversized) return;
    try {
      this.handlers.onNotification?.(notification.method, notification.params);
    } catch (error) {
      // A notification has no caller to answer, and the messages that follow it are not to blame.
      process.emitWarning(`Notification ${notification.method} failed: ${internalError(error).message}`);
    }
  }

  private cancel(params: unknown): void {
    if (typeof params !== 'object' || params === null || !('id' in params)) return;
    const call = this.running.get(params.id as RequestId); // any other type finds nothing
    call?.abort(new RpcError(ErrorCode.cancelled, 'Request cancelled'));
  }

  /** Sends the peer the reason why nothing more of it is read, unless it hung up in the middle of a message. */
  private explain(error: unknown): void {
    if (!(error instanceof FramingError)) this.fail(null, internalError(error));
    else if (error.kind !== 'truncated') this.fail(error.id, framingFault(error));
  }

  private end(): void {
    if (this.ended) return;
    this.ended = true;
    const reason = connectionClosed();
    for (const call of this.running.values()) call.abort(reason);
    for (const waiter of this.pending.values()) {
      waiter.release();
      waiter.reject(reason);
    }
    this.pending.clear();
  }
}

function othersTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

interface Pending {
  resolve(result: unknown): void;
  reject(error: unknown): void;
  /** Lets go of the caller's signal. */
  release(): void;
}

const cancelMethod = '$/cancelRequest';

const overloaded: ErrorObject = {
  code: ErrorCode.server,
  message: 'Too many requests at once; try again',
  data: { code: 'overloaded', retryable: true },
};

const idInUse: ErrorObject = {
  code: ErrorCode.invalidRequest,
  message: 'A request with this id is still in progress; expected an id of its own',
};

function success(id: RequestId, result: unknown = null): Success | Encoded {
  if (result instanceof RawPieces) return encodePieces(`${responseHead(id)}"result":`, result, '}');
  const isText = result instanceof RawJson;
  if (!isText && typeof id !== 'bigint') return { jsonrpc: '2.0', id, result };
  return response(id, `"result":${isText ? result.text : JSON.stringify(result)}`);
}

function failure(id: RequestId, error: ErrorObject): Failure | Encoded {
  if (typeof id !== 'bigint') return { jsonrpc: '2.0', id, error };
  return response(id, `"error":${JSON.stringify(error)}`);
}

/** Written by hand, for JSON knows neither text that is JSON already nor a `bigint`. */
function response(id: RequestId, outcome: string): Encoded {
  return encodeRaw(`${responseHead(id)}${outcome}}`);
}

function responseHead(id: RequestId): string {
  return `{"jsonrpc":"2.0","id":${typeof id === 'bigint' ? id : JSON.stringify(id)},`;
}

/** Returns its own undo. One signal may stand over any number of requests, which Node would take for a leak. */
function onAbort(signal: AbortSignal | undefined, cancel: (reason: unknown) => void): () => void {
  if (signal === undefined) return () => undefined;
  const listener = () => cancel(signal.reason);
  setMaxListeners(0, signal);
  signal.addEventListener('abort', listener, { once: true });
  return () => signal.removeEventListener('abort', listener);
}

function internalError(error: unknown): ErrorObject {
  return { code: ErrorCode.internal, message: error instanceof Error ? error.message : String(error) };
}

function framingFault({ kind, message }: FramingError): ErrorObject {
  const isUnreadable = ['header', 'json', 'too_deep'].includes(kind);
  return { code: isUnreadable ? ErrorCode.parse : ErrorCode.invalidRequest, message };
}

function connectionClosed(): RpcError {
  return new RpcError(ErrorCode.server, 'Connection closed', { code: 'connection_closed' });
}
