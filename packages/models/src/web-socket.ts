import { createHash, randomBytes } from 'node:crypto';
import { IncomingMessage, request as requestHttp } from 'node:http';
import type { Duplex } from 'node:stream';
import { bodyChunks } from './body-chunks.js';
import { ModelError } from './errors.js';
import type { Exchange, HttpRequest, HttpResponse, TimeLimits } from './exchange.js';
import { type Environment, type Route, routes } from './proxy.js';
import { clientFrame, ServerFrames } from './web-socket-frames.js';

/** Calls over WebSockets of their own: one message out, each message of the answer a piece of its body. */
export function webSocketExchange(environment: Environment, limits: TimeLimits): Exchange {
  const routeTo = routes(environment);
  return async (request, signal) => {
    signal.throwIfAborted();
    const route = await routeTo(new URL(request.url.replace(/^ws/, 'http')));
    const open = route.secure ? (await import('node:https')).request : requestHttp;
    const opened = await handshake(request, { route, open, milliseconds: limits.send }, signal);
    if (opened instanceof IncomingMessage) return refusal(opened);
    opened.write(clientFrame('text', Buffer.concat(request.body ?? [])));
    return { status: 101, headers: {}, body: messages(opened, limits, signal) };
  };
}

interface Opening {
  readonly route: Route;
  readonly open: typeof requestHttp;
  readonly milliseconds: number;
}

/** The open socket, or the answer of a service that opens none. */
function handshake(
  request: HttpRequest,
  { route, open, milliseconds }: Opening,
  signal: AbortSignal,
): Promise<Duplex | IncomingMessage> {
  const key = randomBytes(16).toString('base64');
  const { 'content-type': _, ...headers } = request.headers;
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': key,
  };
  return new Promise((resolve, reject) => {
    const call = open(route.target, {
      path: route.path,
      ...(route.tunnel && { agent: route.tunnel }),
      method: 'GET',
      headers: { ...headers, ...upgrade, ...route.headers },
    });
    const abort = () => call.destroy(asError(signal.reason));
    const text = `The model service could not be reached within ${milliseconds / 1000} seconds`;
    const timer = setTimeout(() => call.destroy(new ModelError('timeout', text)), milliseconds);
    signal.addEventListener('abort', abort, { once: true });
    const release = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
    call.on('error', (error) => {
      release();
      reject(error);
    });
    call.once('response', (response) => {
      release();
      resolve(response);
    });
    call.once('upgrade', (response, socket, head) => {
      release();
      if (response.headers['sec-websocket-accept'] !== acceptOf(key)) {
        socket.destroy();
        return reject(opensNone());
      }
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    call.end();
  });
}

/** What a server proves with that it speaks the protocol (RFC 6455, 4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
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
  return {
    status,
    headers: Object.fromEntries(headers),
    body: bodyChunks(response),
  };
}

function opensNone(): ModelError {
  return new ModelError('bad_response', 'The model service opened no WebSocket');
}

async function* messages(
  socket: Duplex,
  { firstByte, idle }: TimeLimits,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array> {
  const frames = new ServerFrames();
  const fail = (what: string, milliseconds: number) =>
    setTimeout(
      () => socket.destroy(new ModelError('timeout', `${what} within ${milliseconds / 1000} seconds`)),
      milliseconds,
    );
  let timer = fail('The model service did not answer', firstByte);
  const abort = () => socket.destroy(asError(signal.reason));
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    for await (const bytes of bodyChunks(socket)) {
      clearTimeout(timer);
      timer = fail('The model service stopped sending its answer', idle);
      for (const received of frames.read(bytes)) {
        if (received.type === 'close') return checkClose(received.code);
        if (received.type === 'ping') socket.write(clientFrame('pong', received.data));
        else yield received.data;
      }
    }
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    close(socket);
  }
}

/** 1000 and 1001: the service has said what it had to say. */
function checkClose(code: number | undefined): void {
  if (code === undefined || code === 1000 || code === 1001) return;
  throw new ModelError('unavailable', `The model service closed the WebSocket with code ${code}`);
}

function close(socket: Duplex): void {
  if (socket.destroyed) return;
  const timer = setTimeout(() => socket.destroy(), 250).unref();
  socket.once('close', () => clearTimeout(timer));
  socket.resume();
  socket.end(clientFrame('close', Buffer.from([0x03, 0xe8])));
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error(String(reason));
}
