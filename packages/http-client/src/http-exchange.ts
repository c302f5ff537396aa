import { type Answer, Call } from './call.js';
import { Connections } from './connections.js';
import { HttpError } from './errors.js';
import type { HttpRequest, HttpResponse, TimeLimits } from './exchange.js';
import { type Environment, routes } from './proxy.js';

/** Calls by HTTP/1.1 over connections of our own: Node's client takes longer for a call than all the rest of a turn. */
export function httpExchange(
  environment: Environment,
  limits: TimeLimits,
): (request: HttpRequest, signal: AbortSignal) => Promise<HttpResponse> {
  const routeTo = routes(environment);
  const connections = new Connections();
  return async (request, signal) => {
    signal.throwIfAborted();
    const options = { route: await routeTo(new URL(request.url)), limits, connections };
    const call = new Call(request, options);
    try {
      return await decoded(await call.run(signal));
    } catch (error) {
      if (signal.aborted || !call.wasStale(error)) throw error;
      if (request.method === 'POST') throw lostOnItsWay(error);
      return decoded(await new Call(request, options).run(signal));
    }
  };
}

/** A call that may have been made, and be paid for, is not made again in silence; but it is at once. */
function lostOnItsWay(cause: unknown): HttpError {
  const message = 'The kept connection to the model service was closed while the request was on its way';
  return new HttpError('network', message, { code: 'ECONNRESET', retryAfter: 0, cause });
}

/** The answer with its body as it was before it was packed for the way. */
async function decoded(answer: Answer): Promise<HttpResponse> {
  const coding = answer.headers['content-encoding']?.trim().toLowerCase();
  if (coding === undefined || !Object.hasOwn(decompressors, coding)) return answer;
  const [stream, zlib] = await Promise.all([import('node:stream'), import('node:zlib')]);
  const decompress = zlib[decompressors[coding as keyof typeof decompressors]]();
  // The reader of the last stream sees every error; the callback only shows pipeline that errors are handled.
  const body = stream.pipeline(stream.Readable.from(answer.body), decompress, () => undefined);
  return { ...answer, body };
}

const decompressors = {
  gzip: 'createGunzip',
  'x-gzip': 'createGunzip',
  deflate: 'createInflate',
  br: 'createBrotliDecompress',
} as const;
