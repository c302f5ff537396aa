import { STATUS_CODES } from 'node:http';
import { ModelError, type ModelErrorDetails, type ModelErrorKind } from './errors.js';
import { isObject, property, textOrNothing } from './json.js';

const maxMessageLength = 2048;

const kindByStatus: Readonly<Record<number, ModelErrorKind>> = {
  401: 'auth',
  402: 'quota',
  403: 'auth',
  408: 'unavailable',
  413: 'too_large',
  425: 'unavailable',
  429: 'rate_limit',
};

const kindByWord: readonly (readonly [RegExp, ModelErrorKind])[] = [
  [/quota/, 'quota'],
  [/rate.?limit|too.?many/, 'rate_limit'],
  [/auth|permission/, 'auth'],
  [/invalid|bad.?request|not.?found/, 'bad_request'],
];

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
  const message = explained.message ?? (page ? '' : text);
  return new ModelError(kindOf(status, explained.code), bounded(message) || statusText(status), {
    statusCode: status,
    requestId,
    code: explained.code,
    retryAfter,
  });
}

/** A failure told inside an answer that began as a success. */
export function toldFailure(error: unknown): ModelError {
  const { message, code, word } = explain({ error });
  const status = code !== undefined && /^[45]\d\d$/.test(code) ? Number(code) : undefined;
  const details: ModelErrorDetails = { statusCode: status, code };
  const kind = status === undefined ? kindOfWord(`${word ?? ''} ${code ?? ''}`) : kindOf(status, code);
  return new ModelError(kind, bounded(message ?? 'The model service gave up without a reason'), details);
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
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

function explain(body: unknown): { message?: string; code?: string; word?: string } {
  const error = property(body, 'error');
  const inner = isObject(error) ? error : body;
  const message =
    textOrNothing(error) ??
    textOrNothing(property(inner, 'message')) ??
    textOrNothing(property(body, 'detail'));
  const code = property(inner, 'code');
  const word = textOrNothing(property(inner, 'type'));
  return {
    ...(message !== undefined && { message }),
    ...((typeof code === 'number' || textOrNothing(code) !== undefined) && { code: String(code) }),
    ...(word !== undefined && { word }),
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function kindOf(status: number, code: string | undefined): ModelErrorKind {
  if (status === 429 && code === 'insufficient_quota') return 'quota';
  return kindByStatus[status] ?? (status >= 500 ? 'unavailable' : 'bad_request');
}

function kindOfWord(words: string): ModelErrorKind {
  const lower = words.toLowerCase();
  return kindByWord.find(([pattern]) => pattern.test(lower))?.[1] ?? 'unavailable';
}

function statusText(status: number): string {
  return STATUS_CODES[status] ?? 'The model service gave no reason';
}
