import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { addressOf, always, type LookUp, systemLookUp } from '../../tools/pinned-address.js';

/** As the library makes requests of authorisation servers. */
export type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const mostBytes = 256 * 1024;
const mostMilliseconds = 15_000;

/** An address that a server named, and that is not to be reached. */
class BlockedAddress extends Error {
  override readonly name = 'BlockedAddress';
}

/**
 * Requests to addresses that a server names. The user wrote the server's own host, wherever it is; any other must be public.
 * The connection goes to the very address that was checked, and no redirect is followed.
 */
export function guardedFetch(serverUrl: string, lookUp: LookUp = systemLookUp): Fetch {
  const own = new URL(serverUrl);
  return async (target, init = {}) => {
    const url = new URL(target);
    if (url.protocol !== 'https:' && url.protocol !== 'http:')
      throw new BlockedAddress(`${url.protocol} is not allowed here, only http and https`);
    const found = await addressOf(url, lookUp);
    if (!isOwn(url, own) && 'blocked' in found)
      throw new BlockedAddress(
        `${url.host} leads to ${found.blocked}, which is not public: only the host of the server itself may be there`,
      );
    return send(url, found.address, init);
  };
}

/**
 * Who rules over a name may let it lead to this machine later, and reach what listens there at other ports: a name leads to
 * places that are not public at the server's own port only. An address that the user wrote stays what it is.
 */
function isOwn(url: URL, own: URL): boolean {
  if (url.hostname !== own.hostname) return false;
  return (
    url.port === own.port || own.hostname === 'localhost' || isIP(own.hostname.replace(/^\[|\]$/g, '')) !== 0
  );
}

async function send(url: URL, address: string, init: RequestInit): Promise<Response> {
  const limit = AbortSignal.timeout(mostMilliseconds);
  const signal = init.signal ? AbortSignal.any([init.signal, limit]) : limit;
  const headers = new Headers(init.headers);
  const body = bodyOf(init.body);
  // Node sets these itself, by what is really sent.
  headers.delete('content-length');
  if (body !== undefined && init.body instanceof URLSearchParams && !headers.has('content-type'))
    headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const ask = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const sent = ask(url, {
      method: init.method ?? 'GET',
      signal,
      agent: false,
      headers: { accept: 'application/json', ...Object.fromEntries(headers) },
      lookup: always(address),
    });
    sent.once('response', resolve);
    sent.once('error', reject);
    sent.end(body);
  });
  return responseOf(answer, await read(answer));
}

function bodyOf(body: RequestInit['body']): string | undefined {
  if (body === undefined || body === null) return undefined;
  if (typeof body === 'string' || body instanceof URLSearchParams) return String(body);
  throw new TypeError('Only texts and forms are sent to authorisation servers');
}

async function read(answer: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > mostBytes) {
      answer.destroy();
      throw new Error(`the answer has more than ${mostBytes >> 10} KB`);
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** A redirect stays an answer without a way on: what a server names is followed by nothing that was not checked. */
function responseOf(answer: IncomingMessage, body: Buffer): Response {
  const { statusCode = 502, statusMessage = '', rawHeaders } = answer;
  const headers = new Headers();
  for (let at = 0; at + 1 < rawHeaders.length; at += 2)
    headers.append(rawHeaders[at] ?? '', rawHeaders[at + 1] ?? '');
  const hasBody = statusCode !== 204 && statusCode !== 304 && statusCode >= 200;
  return new Response(hasBody ? new Uint8Array(body) : null, {
    status: statusCode,
    statusText: statusMessage,
    headers,
  });
}
