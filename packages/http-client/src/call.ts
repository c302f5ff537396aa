import { AnswerBody, type BodySource } from './answer-body.js';
import type { Carried, Connection } from './connection.js';
import type { Connections } from './connections.js';
import { HttpError } from './errors.js';
import type { HttpRequest, HttpResponse, TimeLimits } from './exchange.js';
import { monotonic } from './monotonic.js';
import type { Route } from './proxy.js';
import { headOf } from './request-head.js';
import { type ResponseHead, type ResponseListener, ResponseParser } from './response-parser.js';

/** What a call goes by. */
export interface CallOptions {
  readonly route: Route;
  readonly limits: TimeLimits;
  readonly connections: Connections;
}

/** A head, and the body that comes after it; the body may still be encoded. */
export interface Answer extends HttpResponse {
  readonly body: AnswerBody;
}

/** One request and its answer. */
export class Call implements Carried, ResponseListener, BodySource {
  readonly #request: HttpRequest;
  readonly #options: CallOptions;
  readonly #parser = new ResponseParser(this);
  readonly #body = new AnswerBody(this);
  #connection: Connection | undefined;
  #resolve: (answer: Answer) => void = () => undefined;
  #reject: (error: unknown) => void = () => undefined;
  #stopListening: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;
  #step: { readonly limit: number; readonly failing: string };
  #since = monotonic();
  #head: ResponseHead | undefined;
  #hasReceived = false;
  #isSent = false;
  #isOver = false;

  constructor(request: HttpRequest, options: CallOptions) {
    this.#request = request;
    this.#options = options;
    this.#step = { limit: options.limits.send, failing: 'The model service could not be reached' };
  }

  /** Resolves with the head of the answer; rejects with the signal's reason when it is aborted before. */
  run(signal: AbortSignal): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      const abort = () => this.#fail(signal.reason);
      signal.addEventListener('abort', abort, { once: true });
      this.#stopListening = () => signal.removeEventListener('abort', abort);
      this.#watch();
      const { route, connections } = this.#options;
      const resting = connections.take(route);
      if (resting) this.#send(resting);
      else
        connections.open(route).then(
          (opened) => (this.#isOver ? opened.destroy() : this.#send(opened)),
          (error: unknown) => this.#fail(error),
        );
    });
  }

  /** A kept connection that breaks before any answer was most likely closed while it lay idle. */
  wasStale(error: unknown): boolean {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    const isBroken = code === 'ECONNRESET' || code === 'EPIPE';
    return isBroken && !this.#hasReceived && this.#connection?.isReused === true;
  }

  onBytes(bytes: Buffer): void {
    this.#hasReceived = true;
    this.#since = monotonic();
    try {
      this.#parser.push(bytes);
      if (this.#isOver) this.#part();
    } catch (error) {
      this.#fail(error);
    }
  }

  onGone(error: Error | undefined): void {
    if (error) {
      this.#fail(error);
      return;
    }
    try {
      this.#parser.close();
    } catch (reason) {
      this.#fail(this.#head ? reason : hungUp());
    }
  }

  onHead(head: ResponseHead): void {
    this.#head = head;
    this.#enter(this.#options.limits.idle, 'The model service stopped sending its answer');
    this.#resolve({ body: this.#body, ...head });
  }

  onData(bytes: Buffer): void {
    this.#body.add(bytes);
  }

  onEnd(): void {
    this.#over();
    this.#body.end();
  }

  pause(): void {
    this.#connection?.pause();
  }

  resume(): void {
    this.#connection?.resume();
  }

  /** An answer left at its last event is nearly over: waiting for it a moment keeps the connection for the next call. */
  cancel(): void {
    this.#stopListening();
    clearTimeout(this.#timer);
    this.#connection?.resume();
    this.#timer = setTimeout(() => this.#connection?.destroy(), lingering).unref();
  }

  #send(connection: Connection): void {
    this.#connection = connection;
    const { body = [] } = this.#request;
    try {
      const head = headOf(this.#request, this.#options.route);
      connection.carry(this, { head, body }, () => this.#sent());
    } catch (error) {
      this.#fail(error);
    }
  }

  #sent(): void {
    this.#isSent = true;
    if (!this.#head) this.#enter(this.#options.limits.firstByte, 'The model service did not answer');
  }

  #enter(limit: number, failing: string): void {
    this.#step = { limit, failing };
    this.#since = monotonic();
  }

  /** One timer for all steps: it looks again as often as the shortest of them may take. */
  #watch(): void {
    const { limit, failing } = this.#step;
    const { send, firstByte, idle } = this.#options.limits;
    const left = this.#since + limit - monotonic();
    if (left <= 0) this.#fail(new HttpError('timeout', `${failing} within ${limit / 1000} seconds`));
    else this.#timer = setTimeout(() => this.#watch(), Math.min(left, send, firstByte, idle));
  }

  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.#over();
    this.#connection?.destroy();
    if (this.#head) this.#body.fail(error);
    else this.#reject(error);
  }

  #over(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#stopListening();
  }

  /** The answer is whole: the connection is kept, if it may carry another one. */
  #part(): void {
    const connection = this.#connection;
    if (!connection) return;
    const { route, connections } = this.#options;
    if (this.#isSent && this.#parser.mayGoOn)
      connections.keep(connection, route, this.#head?.headers['keep-alive']);
    else connection.destroy();
  }
}

const lingering = 250;

function hungUp(): Error {
  const error = new Error('The model service closed the connection before it answered');
  return Object.assign(error, { code: 'ECONNRESET' });
}
