import type { IncomingMessage } from 'node:http';
import { connect as connectPlain, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type Environment, type Route, routes } from '@groundcrew/http-client';
import { type ClientOptions, WebSocket } from 'ws';
import { ModelError } from './errors.js';
import type { Exchange, HttpRequest, HttpResponse, TimeLimits } from './exchange.js';
import { SocketAnswer } from './socket-answer.js';

/** Calls over WebSockets of their own: one message out, each message of the answer a piece of its body. */
export function webSocketExchange(environment: Environment, limits: TimeLimits): Exchange {
  const routeTo = routes(environment);
  return async (request, signal) => {
    signal.throwIfAborted();
    const url = new URL(request.url.replace(/^ws/, 'http'));
    const socket = new WebSocket(request.url.replace(/^http/, 'ws'), optionsFor(request, await routeTo(url)));
    // Made first: a service may speak as soon as the socket is open.
    const answer = new SocketAnswer(socket);
    const refused = await opening(socket, limits.send, signal);
    if (refused) return refusal(refused);
    socket.send(Buffer.concat(request.body ?? []), { binary: false });
    return { status: 101, headers: {}, body: answer.read(limits, signal) };
  };
}

const maxMessageBytes = 32 * 1024 * 1024;

/** How long the service's own goodbye is waited for, in milliseconds. */
const closeTimeout = 250;

/** `closeTimeout` is not in the published types of the library yet. */
type Options = ClientOptions & { readonly closeTimeout: number };

function optionsFor(request: HttpRequest, route: Route): Options {
  const { 'content-type': _, ...headers } = request.headers;
  const { host: __, ...forProxy } = route.headers;
  return {
    headers: { ...headers, ...forProxy },
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    closeTimeout,
    ...(route.tunnel && { agent: route.tunnel }),
    ...(route.isForwarded && throughProxy(route)),
  };
}

/** A plain request is handed to the proxy with its whole address, as every other one. */
function throughProxy({ target, path, secure }: Route): ClientOptions {
  const host = target.hostname.replace(/^\[(.*)\]$/, '$1');
  const place = { host, port: Number(target.port || (secure ? 443 : 80)) };
  const open = () =>
    secure ? connectTls({ ...place, servername: isIP(host) === 0 ? host : '' }) : connectPlain(place);
  return {
    createConnection: open,
    finishRequest: (request) => {
      request.path = path;
      request.end();
    },
  };
}

/** Resolves when the socket is open, or with the answer of a service that opens none. */
function opening(
  socket: WebSocket,
  milliseconds: number,
  signal: AbortSignal,
): Promise<IncomingMessage | undefined> {
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      release();
      socket.terminate();
      reject(error);
    };
    const refuse = (error: Error) => fail(isOfTheNetwork(error) ? error : opensNone(error));
    const abort = () => fail(signal.reason);
    const text = `The model service could not be reached within ${milliseconds / 1000} seconds`;
    const timer = setTimeout(() => fail(new ModelError('timeout', text)), milliseconds);
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
      socket.off('error', refuse);
    };
    signal.addEventListener('abort', abort, { once: true });
    socket.once('error', refuse);
    socket.once('open', () => {
      release();
      resolve(undefined);
    });
    socket.once('unexpected-response', (_, response) => {
      release();
      resolve(response);
    });
  });
}

/** What the library itself objects to has no code. */
function isOfTheNetwork(error: Error): boolean {
  return error instanceof ModelError || 'code' in error;
}

function refusal(response: IncomingMessage): HttpResponse {
  const { statusCode: status = 0 } = response;
  if (status < 300) {
    response.destroy();
    throw opensNone();
  }
  const headers = Object.entries(response.headersDistinct).map(([name, values = []]) => [
    name,
    values.join(', '),
  ]);
  return { status, headers: Object.fromEntries(headers), body: response };
}

function opensNone(cause?: unknown): ModelError {
  return new ModelError('bad_response', 'The model service opened no WebSocket', { cause });
}
