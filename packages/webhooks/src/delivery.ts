import { type ClientRequest, request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { publicLookup } from '@groundcrew/runtime';
import type { OutboxMessage } from '@groundcrew/store';
import { isLiteral } from './endpoint.js';
import { sign } from './signature.js';

/** Where a message goes. */
export interface Target {
  readonly url: URL;
  readonly keys: readonly Uint8Array[];
  readonly allowPrivate: boolean;
  readonly timeoutMs: number;
  readonly userAgent: string;
}

/** What became of an attempt. */
export type Outcome =
  | { readonly type: 'delivered' }
  /** The receiver answered 410: it wants no more messages. */
  | { readonly type: 'gone' }
  | { readonly type: 'failed'; readonly reason: string; readonly retryAfterMs?: number };

/** Sends a message once. No redirect is followed, and the connection goes to the very address that was checked. */
export async function deliver(
  { id, body }: OutboxMessage,
  target: Target,
  signal: AbortSignal,
): Promise<Outcome> {
  const limit = AbortSignal.timeout(target.timeoutMs);
  const either = AbortSignal.any([signal, limit]);
  try {
    const { url } = target;
    const allowsPrivate = target.allowPrivate || isLiteral(url);
    const lookup = await unlessAborted(publicLookup(url, { allowsPrivate }), either);
    const timestamp = Math.floor(Date.now() / 1000);
    const headers = {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      'user-agent': target.userAgent,
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': sign({ id, timestamp, body }, target.keys),
    };
    const open = url.protocol === 'https:' ? httpsRequest : httpRequest;
    const asked = open(url, {
      method: 'POST',
      headers,
      lookup,
      agent: false,
      signal: either,
      maxHeaderSize: 16_384,
    });
    return await answerTo(asked, body);
  } catch (error) {
    const late = `no answer within ${target.timeoutMs / 1000} seconds`;
    return { type: 'failed', reason: limit.aborted && !signal.aborted ? late : reasonOf(error) };
  }
}

/** The body of the answer is not read: nothing depends on it, and it may have no end. */
function answerTo(asked: ClientRequest, body: string): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    asked.once('error', reject);
    // A receiver that wants another protocol ends the request without an error and without an answer.
    asked.once('close', () => reject(new Error('the connection was closed without an answer')));
    asked.once('response', ({ statusCode = 0, headers }) => {
      asked.destroy();
      resolve(outcomeOf(statusCode, headers['retry-after']));
    });
    asked.end(body);
  });
}

function outcomeOf(status: number, retryAfter: string | undefined): Outcome {
  if (status >= 200 && status < 300) return { type: 'delivered' };
  if (status === 410) return { type: 'gone' };
  const reason =
    status >= 300 && status < 400 ? `a redirect (${status}), which is not followed` : `${status}`;
  const retryAfterMs = millisecondsOf(retryAfter);
  return { type: 'failed', reason, ...(retryAfterMs !== undefined && { retryAfterMs }) };
}

/** Of a header that holds seconds or a date; nothing else is believed. */
function millisecondsOf(retryAfter = ''): number | undefined {
  if (/^\d{1,9}$/.test(retryAfter)) return Number(retryAfter) * 1000;
  const isDate = /^[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT$/.test(retryAfter);
  const time = isDate ? Date.parse(retryAfter) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.max(0, time - Date.now());
}

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('aborted')), { once: true });
    work.then(resolve, reject);
  });
}

function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code ?? message;
}
