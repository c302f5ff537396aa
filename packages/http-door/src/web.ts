import type { IncomingMessage, ServerResponse } from 'node:http';
import { guards } from './guards.js';

/** A request has more than is read. */
export class TooLarge extends Error {
  override readonly name = 'TooLarge';
}

/** A request as the web's own types have it, its body read within bounds. */
export async function requestOf(
  incoming: IncomingMessage,
  { mostBodyBytes, signal }: { readonly mostBodyBytes: number; readonly signal: AbortSignal },
): Promise<Request> {
  const { method = 'GET', url = '/', headers } = incoming;
  const body = method === 'GET' || method === 'HEAD' ? undefined : await readBody(incoming, mostBodyBytes);
  const web = new Headers();
  for (const [name, value] of Object.entries(headers))
    for (const each of Array.isArray(value) ? value : [value ?? '']) web.append(name, each);
  return new Request(new URL(url, `http://${headers.host}`), {
    method,
    headers: web,
    signal,
    ...(body && body.length > 0 && { body: new Uint8Array(body) }),
  });
}

/** A client that sends a little too much reads why, once it has sent it; one that sends far more is cut off. */
const mostPatience = 4;

async function readBody(incoming: IncomingMessage, most: number): Promise<Buffer> {
  const said = Number(incoming.headers['content-length'] ?? 0);
  const tooLarge = () => new TooLarge(`A request may have ${most >> 20} MiB`);
  if (said > most * mostPatience) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > most * mostPatience) throw tooLarge();
    if (size <= most) chunks.push(chunk);
  }
  if (size > most) throw tooLarge();
  return Buffer.concat(chunks);
}

/** Sends an answer piece by piece, no faster than it is read, until it ends or the client is gone. */
export async function send(response: Response, outgoing: ServerResponse, signal: AbortSignal): Promise<void> {
  outgoing.writeHead(response.status, { ...guards, ...Object.fromEntries(response.headers) });
  const reader = response.body?.getReader();
  if (!reader) {
    outgoing.end();
    return;
  }
  outgoing.flushHeaders();
  const stop = () => void reader.cancel().catch(() => undefined);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read())
      if (!outgoing.write(next.value)) await drained(outgoing);
    outgoing.end();
  } finally {
    signal.removeEventListener('abort', stop);
    // An answer that broke off must not look like a whole one.
    if (!outgoing.writableEnded) outgoing.destroy();
  }
}

/** Resolves when the client has read on, or is gone; nothing of the wait stays at a stream that goes on for days. */
function drained(outgoing: ServerResponse): Promise<void> {
  if (outgoing.destroyed) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      outgoing.off('drain', done);
      outgoing.off('close', done);
      resolve();
    };
    outgoing.on('drain', done);
    outgoing.on('close', done);
  });
}
