import { type ClientRequest, type IncomingMessage, request as requestHttp } from 'node:http';
import { pipeline, type Readable, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { bodyChunks } from './body-chunks.js';
import { ModelError } from './errors.js';
import type { Exchange, HttpRequest, HttpResponse, TimeLimits } from './exchange.js';
import { property } from './json.js';
import { type Environment, type Route, routes } from './proxy.js';

/** Calls by Node's own HTTP client. */
export function httpExchange(environment: Environment, limits: TimeLimits): Exchange {
  const routeTo = routes(environment);
  return async (request, signal) => {
    signal.throwIfAborted();
    const route = await routeTo(new URL(request.url));
    // TLS costs as much to load as all of HTTP, and a model on this machine needs none.
    const open = route.secure ? (await import('node:https')).request : requestHttp;
    const call = new Call(request, { route, limits, open });
    try {
      return await call.run(signal);
    } catch (error) {
      if (signal.aborted || !call.wasStale(error)) throw error;
      if (request.method === 'POST') throw lostOnItsWay(error);
      return new Call(request, { route, limits, open }).run(signal);
    }
  };
}

/** A call that may have been made, and be paid for, is not made again in silence; but it is at once. */
function lostOnItsWay(cause: unknown): ModelError {
  const message = 'The kept connection to the model service was closed while the request was on its way';
  return new ModelError('network', message, { code: 'ECONNRESET', retryAfter: 0, cause });
}

interface CallOptions {
  readonly route: Route;
  readonly limits: TimeLimits;
  readonly open: typeof requestHttp;
}

class Call {
  readonly #request: ClientRequest;
  readonly #limits: TimeLimits;
  readonly #body: Buffer | undefined;
  #timer: NodeJS.Timeout | undefined;
  #response: IncomingMessage | undefined;
  #over = false;

  constructor({ method, headers, body }: HttpRequest, { route, limits, open }: CallOptions) {
    this.#body = body;
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    this.#request = open(route.target, {
      ...route.options,
      method,
      headers: { ...headers, ...length, ...route.headers },
    });
    this.#limits = limits;
  }

  async run(signal: AbortSignal): Promise<HttpResponse> {
    const abort = () => this.#fail(asError(signal.reason));
    signal.addEventListener('abort', abort, { once: true });
    const release = () => {
      this.#over = true;
      clearTimeout(this.#timer);
      signal.removeEventListener('abort', abort);
    };
    try {
      const response = await this.#send();
      return {
        status: response.statusCode ?? 0,
        headers: flatten(response),
        body: this.#read(response, release),
      };
    } catch (error) {
      release();
      throw error;
    }
  }

  /** A kept connection that breaks before any answer was most likely closed while it lay idle. */
  wasStale(error: unknown): boolean {
    return this.#request.reusedSocket && property(error, 'code') === 'ECONNRESET' && !this.#response;
  }

  #send(): Promise<IncomingMessage> {
    const { send, firstByte } = this.#limits;
    this.#limit(send, 'The model service could not be reached');
    return new Promise((resolve, reject) => {
      this.#request.once('finish', () => {
        if (!this.#response) this.#limit(firstByte, 'The model service did not answer');
      });
      this.#request.on('error', reject);
      this.#request.once('response', (response) => {
        this.#response = response;
        this.#limit(this.#limits.idle, 'The model service stopped sending its answer');
        resolve(response);
      });
      this.#request.end(this.#body);
    });
  }

  async *#read(response: IncomingMessage, release: () => void): AsyncGenerator<Uint8Array> {
    const content = decompressed(response);
    try {
      for await (const chunk of bodyChunks(content)) {
        this.#timer?.refresh();
        yield chunk;
      }
    } finally {
      release();
      if (!response.complete) linger(response);
    }
  }

  #limit(milliseconds: number, what: string): void {
    clearTimeout(this.#timer);
    if (this.#over) return;
    this.#timer = setTimeout(() => {
      this.#fail(new ModelError('timeout', `${what} within ${milliseconds / 1000} seconds`));
    }, milliseconds);
  }

  #fail(error: Error): void {
    (this.#response ?? this.#request).destroy(error);
  }
}

/** An answer left at its last event is nearly over: waiting for it a moment keeps the connection for the next call. */
function linger(response: IncomingMessage): void {
  if (response.destroyed) return;
  const timer = setTimeout(() => response.destroy(), 250).unref();
  response.once('close', () => clearTimeout(timer));
  response.once('error', () => clearTimeout(timer));
  response.resume();
}

const decompressors: Readonly<Record<string, () => Transform>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

function decompressed(response: IncomingMessage): Readable {
  const decompress = decompressors[response.headers['content-encoding']?.toLowerCase() ?? ''];
  if (!decompress) return response;
  // The reader of the last stream sees every error; the callback only tells pipeline that it is looked after.
  return pipeline(response, decompress(), () => undefined);
}

function flatten(response: IncomingMessage): Record<string, string> {
  const entries = Object.entries(response.headersDistinct);
  return Object.fromEntries(entries.map(([name, values]) => [name, (values ?? []).join(', ')]));
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
