import { BodyWriter } from './body-writer.js';
import { type Credentials, refusedCredentials } from './credentials.js';
import { ModelError, restate } from './errors.js';
import type { Exchange, HttpRequest, HttpResponse } from './exchange.js';
import { asModelError, httpFailure, retryAfterSeconds } from './failure.js';
import { type Headers, mergedHeaders, secretsInHeaders } from './headers.js';
import { AnswerReader, parseWhole, readText } from './http-answer.js';
import { property, textOrNothing } from './json.js';
import type { ModelEvent, ModelInfo, ModelProvider, ModelRequest } from './model.js';
import { PerConversation } from './per-conversation.js';
import { secretsInAddress, withoutValues } from './secrets.js';
import type { Wire } from './wire.js';

export interface HttpProviderOptions {
  readonly id: string;
  /** Loaded by the first call. */
  readonly wire: () => Promise<Wire>;
  readonly wireName: string;
  /** Where calls to this model are posted. */
  readonly url: (model: string) => string;
  /** Calls are messages of a WebSocket. */
  readonly transport?: HttpRequest['transport'];
  /** The headers of a call, or of the question for models when there is no request. Names in lower case. */
  readonly headers: (request: ModelRequest | undefined, signal: AbortSignal) => Headers | Promise<Headers>;
  readonly exchange: Exchange;
  /** What a refusal names. */
  readonly credentials: Credentials;
  /** Where the service lists its models, and how to read the list. */
  readonly models?: { readonly url: () => string; readonly read: (body: unknown) => readonly ModelInfo[] };
  /** Bytes an answer may have in all. */
  readonly maxAnswerBytes?: number;
}

const defaultMaxAnswerBytes = 256 * 1024 * 1024;
const maxFailureBytes = 64 * 1024;

/** A model service at an address: the one place from which calls are made. An abort throws the signal's reason. */
export function httpProvider(options: HttpProviderOptions): ModelProvider {
  const { id, url, transport, models, maxAnswerBytes = defaultMaxAnswerBytes } = options;
  const writers = new PerConversation(() => new BodyWriter());
  let loading: Promise<Wire> | undefined;
  return {
    id,
    async models(signal = new AbortController().signal) {
      if (!models) return [];
      const call = new ProviderCall(options, signal);
      try {
        const response = await call.send({ method: 'GET', url: models.url() }, undefined);
        return models.read(parseWhole(await readText(response.body, { maxBytes: maxAnswerBytes })));
      } catch (error) {
        throw call.failure(error);
      }
    },
    async *stream(request, signal) {
      const call = new ProviderCall(options, signal);
      try {
        loading ??= options.wire();
        const wire = await loading;
        request.sent?.(options.wireName, request);
        const body = writers.of(request).write(wire.encode(request));
        const response = await call.send({ body, ...opening(url(request.model), transport) }, request);
        const answer = new AnswerReader(wire, response, maxAnswerBytes);
        for await (const bytes of response.body) {
          const events = answer.push(bytes);
          if (events.length > 0) yield call.signed(events);
          if (answer.isOver) return;
        }
        yield call.signed(answer.end());
      } catch (error) {
        throw call.failure(error);
      }
    },
  };
}

/** What is known of one call while it lasts: enough to say how it failed, without a secret. */
class ProviderCall {
  readonly #options: HttpProviderOptions;
  readonly #signal: AbortSignal;
  #secrets: readonly string[] = [];
  #requestId: string | undefined;

  constructor(options: HttpProviderOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async send(call: Omit<HttpRequest, 'headers'>, request: ModelRequest | undefined): Promise<HttpResponse> {
    const sent = mergedHeaders(await this.#options.headers(request, this.#signal), request?.headers);
    this.#secrets = [...secretsInHeaders(sent), ...secretsInAddress(call.url)];
    const origin = request?.origin;
    const outgoing = { headers: sent, ...call, ...(origin && { origin }) };
    const response = await this.#options.exchange(outgoing, this.#signal);
    const { headers, status } = response;
    const requestId = headers['x-github-request-id'] ?? headers['x-request-id'] ?? headers['request-id'];
    this.#requestId = this.#masked(requestId);
    if (status === 101 || (status >= 200 && status < 300)) return response;
    if (status >= 300 && status < 400) throw redirected(headers.location);
    const text = await readText(response.body, { maxBytes: maxFailureBytes, cut: true });
    const retryAfter = retryAfterSeconds(headers['retry-after'], Date.now());
    throw httpFailure({ status, text, retryAfter });
  }

  /** The end of an answer carries the service's id for the call. */
  signed(events: readonly ModelEvent[]): readonly ModelEvent[] {
    const last = events.at(-1);
    if (last?.type !== 'end') return events;
    const { model, responseId, requestId = this.#requestId, ...end } = last;
    const named = Object.entries({ model, responseId, requestId }).flatMap(([name, word]) =>
      word === undefined ? [] : [[name, this.#masked(word)]],
    );
    return [...events.slice(0, -1), { ...end, ...Object.fromEntries(named) }];
  }

  failure(error: unknown): unknown {
    if (this.#signal.aborted) return this.#signal.reason;
    const known = error instanceof ModelError ? error : (asModelError(error) ?? networkFailure(error));
    // Masked before other words are put behind it: where it was cut, a part of a secret may be its end.
    const message = this.#masked(known.message);
    const requestId = this.#masked(known.requestId ?? this.#requestId);
    const clean = restate(known, { message, requestId, code: this.#masked(known.code) });
    return clean.kind === 'auth' ? refusedCredentials(clean, this.#options.credentials) : clean;
  }

  #masked<T extends string | undefined>(text: T): T {
    return (text && withoutValues(text, this.#secrets)) as T; // nothing of nothing, and a text of a text
  }
}

function opening(url: string, transport: HttpRequest['transport']): Omit<HttpRequest, 'headers'> {
  return transport ? { method: 'GET', url: url.replace(/^http/, 'ws'), transport } : { method: 'POST', url };
}

function redirected(location: string | undefined): ModelError {
  const to = location !== undefined && URL.canParse(location) ? ` to ${new URL(location).origin}` : '';
  return new ModelError('configuration', `The model service redirects${to}; set its address to where it is`);
}

/** A certificate that is not trusted stays so however often one asks. */
const trustCodes = /^(CERT_|SELF_SIGNED_|DEPTH_ZERO_|UNABLE_TO_|ERR_TLS_CERT_)/;

function networkFailure(error: unknown): ModelError {
  if (!(error instanceof Error)) return new ModelError('network', String(error));
  const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
  const message = first instanceof Error ? first.message : error.message;
  const code = textOrNothing(property(first, 'code'));
  if (code === undefined || !trustCodes.test(code))
    return new ModelError('network', message, { code, cause: error });
  const advice = 'NODE_EXTRA_CA_CERTS names further authorities to trust';
  return new ModelError('configuration', `The service's certificate is not trusted: ${message}; ${advice}`, {
    code,
    cause: error,
  });
}
