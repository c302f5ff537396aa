import { STATUS_CODES } from 'node:http';
import type { HttpError } from '@groundcrew/http-client';
import { ModelError } from './errors.js';
import { failureKind } from './failure-kind.js';
import { isObject, property, textOrNothing } from './json.js';

const maxMessageLength = 2048;

/** An HTTP answer that is no success, as the service explains it. */
export function httpFailure(answer: {
  readonly status: number;
  readonly text: string;
  readonly requestId?: string | undefined;
  readonly retryAfter?: number | undefined;
}): ModelError {
  const { status, text, requestId, retryAfter } = answer;
  const explained = explain(parse(text));
  const page = text.trimStart().startsWith('<');
  const message = bounded(explained.message ?? (page ? '' : text));
  const kind = failureKind({ status, words: explained.words, message });
  return new ModelError(kind, message || statusText(status), {
    statusCode: status,
    requestId: requestId ?? explained.requestId,
    code: explained.code,
    retryAfter,
  });
}

/** A failure reported inside an answer that began as a success. */
export function failureInAnswer(error: unknown): ModelError {
  const { message = 'The model service gave up without a reason', code, words } = explain({ error });
  const status = code !== undefined && /^[45]\d\d$/.test(code) ? Number(code) : undefined;
  const kind = failureKind({ status, words, message });
  return new ModelError(kind, bounded(message), { statusCode: status, code });
}

/** One line, without control characters, short enough to show. */
export function bounded(text: string): string {
  const line = text
    .slice(0, maxMessageLength * 2)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length <= maxMessageLength ? line : `${line.slice(0, maxMessageLength - 1)}…`;
}

/** Seconds to wait by a Retry-After header, which holds seconds or a date. */
export function retryAfterSeconds(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d+(\.\d+)?\s*$/.test(value)) return Number(value);
  // What else has a number in it is read as some date by the system: '-1' and 'in 5' are years.
  const date = dateForm.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

const dateForm = /^\s*(?:[a-z]{3,9},? .*\d\d:\d\d:\d\d|\d{4}-\d\d-\d\dT)/i;

interface Explained {
  readonly message?: string;
  readonly code?: string;
  readonly requestId?: string;
  /** Everything that names the failure. */
  readonly words: string;
}

/** Services agree that there is an error, and on little else. Some send a list of one. */
function explain(answer: unknown): Explained {
  const body: unknown = Array.isArray(answer) ? answer[0] : answer;
  const error = property(body, 'error');
  const inner = isObject(error) ? error : body;
  const message =
    textOrNothing(error) ??
    textOrNothing(property(inner, 'message')) ??
    textOrNothing(property(body, 'detail'));
  const given = property(inner, 'code');
  const type = textOrNothing(property(inner, 'type'));
  const code = typeof given === 'number' ? String(given) : textOrNothing(given);
  const deeper = textOrNothing(property(property(inner, 'innererror'), 'code'));
  const status = textOrNothing(property(inner, 'status'));
  const requestId = textOrNothing(property(body, 'request_id'));
  return {
    ...(message !== undefined && { message }),
    ...(code !== undefined && { code: bounded(code) }),
    ...(requestId !== undefined && { requestId: bounded(requestId) }),
    words: [type, code, deeper, status].filter((word) => word !== undefined).join(' '),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function statusText(status: number): string {
  return STATUS_CODES[status] ?? 'The model service gave no reason';
}

/** What the HTTP client can name of a failed call; known by its name, for the client is loaded by the first call. */
export function asModelError(error: unknown): ModelError | undefined {
  if (!(error instanceof Error) || error.name !== 'HttpError') return undefined;
  const { kind, message, code, retryAfter, cause } = error as HttpError; // no other error has this name
  return new ModelError(kind, message, { code, retryAfter, cause });
}
