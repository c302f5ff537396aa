import { randomUUID } from 'node:crypto';
import type { Methods, ParsedParams } from '@groundcrew/protocol';
import { AsyncQueue } from '@groundcrew/rpc';
import type { Client } from './client.js';

/** A model call, as the client that makes it gets it. */
export interface CarriedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: readonly Uint8Array[];
  /** The client opens a WebSocket: `body` is the one message to it, each piece of the answer one from it. */
  readonly transport?: 'websocket';
  readonly origin?: {
    readonly sessionId: string;
    readonly interactionType: string;
    readonly agentId?: string;
    readonly parentAgentId?: string;
  };
}

/** What came back. */
export interface CarriedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/** Milliseconds until an answer has to begin, between two pieces of it, and after what was wanted of it. */
const limits = { start: 600_000, idle: 300_000, linger: 250 };

/** The model calls that one client makes for the runtime. */
export class CarriedCalls {
  private readonly calls = new Map<string, CarriedCall>();

  constructor(private readonly client: Client) {}

  /** Resolves with the head of the answer; an abort throws the signal's reason and notifies the client. */
  readonly exchange = async (request: CarriedRequest, signal: AbortSignal): Promise<CarriedResponse> => {
    signal.throwIfAborted();
    const requestId = randomUUID();
    const call = new CarriedCall();
    const cancel = (reason: unknown) => {
      if (call.fail(reason)) this.sendCancelled(requestId, reason);
    };
    const abort = () => cancel(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    this.calls.set(requestId, call);
    void call.over.then(() => {
      signal.removeEventListener('abort', abort);
      this.calls.delete(requestId);
    });
    this.send(requestId, request, call).catch((error: unknown) => call.fail(error));
    call.limit(limits.start, 'began no answer', cancel);
    const { status, headers = {} } = await call.head;
    call.limit(limits.idle, 'stopped sending its answer', cancel);
    const flat = Object.entries(headers).map(([name, values]) => [name.toLowerCase(), values.join(', ')]);
    const stop = request.transport ? () => this.sendEnd(requestId) : () => undefined;
    return { status, headers: Object.fromEntries(flat), body: call.body(cancel, stop) };
  };

  /** False for a call that no caller waits for. */
  start({ requestId, ...head }: ParsedParams<Methods['llmInference.httpResponseStart']>): boolean {
    return this.calls.get(requestId)?.begin(head) ?? false;
  }

  /** Resolves when there is room for more; false for a call that no caller waits for. */
  async chunk(chunk: ParsedParams<Methods['llmInference.httpResponseChunk']>): Promise<boolean> {
    const call = this.calls.get(chunk.requestId);
    if (!call) return false;
    if (chunk.error) {
      const { message, code } = chunk.error;
      return call.fail(Object.assign(new Error(message), code !== undefined && { code }));
    }
    const isTaken = await call.take(Buffer.from(chunk.data, chunk.binary ? 'base64' : 'utf8'));
    if (chunk.end) call.end();
    return isTaken;
  }

  /** The client is gone. */
  end(): void {
    const gone = new Error('The client that makes the model calls has left');
    for (const call of this.calls.values()) call.fail(gone);
  }

  /** A WebSocket is open when its head says so; only then there is a peer to send to. */
  private async send(requestId: string, request: CarriedRequest, call: CarriedCall): Promise<void> {
    const { method, url, headers, body, transport, origin } = request;
    const values = Object.entries(headers).map(([name, value]) => [name, [value]]);
    const start = {
      requestId,
      method,
      url,
      headers: Object.fromEntries(values),
      transport: transport ?? ('http' as const),
      ...(origin && {
        sessionId: origin.sessionId,
        agentId: origin.agentId ?? origin.sessionId,
        ...(origin.parentAgentId !== undefined && { parentAgentId: origin.parentAgentId }),
        interactionType: origin.interactionType,
      }),
    };
    const data = Buffer.concat(body ?? []).toString();
    const message = { requestId, data, binary: false, end: transport === undefined };
    const begun = this.client.ask('llmInference.httpRequestStart', start, never);
    if (transport && (await call.head).status !== 101) return;
    await Promise.all([begun, this.client.ask('llmInference.httpRequestChunk', message, never)]);
  }

  /** Nothing more goes out: the client closes its WebSocket. */
  private sendEnd(requestId: string): void {
    const params = { requestId, data: '', binary: false, end: true };
    // Whether or not it receives this, no caller waits any more.
    this.client.ask('llmInference.httpRequestChunk', params, never).catch(() => undefined);
  }

  private sendCancelled(requestId: string, reason: unknown): void {
    const cancelReason = reason instanceof Error ? reason.message : String(reason);
    const params = { requestId, data: '', end: true, cancel: true, cancelReason };
    // Whether or not it receives this, no caller waits any more.
    this.client.ask('llmInference.httpRequestChunk', params, never).catch(() => undefined);
  }
}

type Head = Omit<ParsedParams<Methods['llmInference.httpResponseStart']>, 'requestId'>;

/** A request that is never taken back: its answer says nothing. */
const never = new AbortController().signal;

/** How many pieces of an answer wait for their reader before the client is kept waiting. */
const roomForChunks = 64;

/** One call, from its request to the last byte of its answer. */
class CarriedCall {
  readonly head: Promise<Head>;
  /** Nothing more comes, and nothing more is waited for. */
  readonly over: Promise<void>;
  private readonly chunks = new AsyncQueue<Uint8Array>(() => this.makeRoom());
  private begun: (head: Head) => void = () => undefined;
  private failed: (reason: unknown) => void = () => undefined;
  private finish: () => void = () => undefined;
  private waiting: (() => void)[] = [];
  private timer: NodeJS.Timeout | undefined;
  private isOver = false;
  private isLeft = false;

  constructor() {
    this.head = new Promise((resolve, reject) => {
      this.begun = resolve;
      this.failed = reject;
    });
    this.head.catch(() => undefined); // a waiting caller gets the error; there may be none
    this.over = new Promise((resolve) => {
      this.finish = resolve;
    });
  }

  begin(head: Head): boolean {
    if (this.isOver) return false;
    this.begun(head);
    return true;
  }

  async take(chunk: Uint8Array): Promise<boolean> {
    if (this.isOver) return false;
    if (this.isLeft) return true;
    this.timer?.refresh();
    if (chunk.byteLength > 0) this.chunks.push(chunk);
    if (this.chunks.size > roomForChunks) await new Promise<void>((resolve) => this.waiting.push(resolve));
    return true;
  }

  end(): void {
    this.failed(new Error('The client that makes the model calls sent no status'));
    this.close();
    this.chunks.end();
  }

  /** False when it was over already. */
  fail(reason: unknown): boolean {
    if (this.isOver) return false;
    this.failed(reason);
    this.close();
    this.chunks.fail(reason);
    return true;
  }

  limit(milliseconds: number, what: string, stop: (reason: Error) => void): void {
    clearTimeout(this.timer);
    if (this.isOver) return;
    const text = `The client that makes the model calls ${what} within ${milliseconds / 1000} seconds`;
    this.timer = setTimeout(() => stop(new Error(text)), milliseconds);
  }

  async *body(stop: (reason: unknown) => void, end: () => void): AsyncGenerator<Uint8Array> {
    try {
      yield* this.chunks;
    } finally {
      this.isLeft = true;
      if (!this.isOver) end();
      // An answer left at its last event is nearly over.
      this.limit(limits.linger, 'went on after the end of its answer', stop);
    }
  }

  private close(): void {
    this.isOver = true;
    clearTimeout(this.timer);
    this.makeRoom();
    this.finish();
  }

  private makeRoom(): void {
    const { waiting } = this;
    this.waiting = [];
    for (const resolve of waiting) resolve();
  }
}
