import type { ModelErrorKind } from './errors.js';

/** What a service says about a failure, in its own words. */
export interface ServiceError {
  /** Of the HTTP answer; none when the failure was reported inside an answer. */
  readonly status?: number | undefined;
  /** Codes and types, whatever the service calls them. */
  readonly words: string;
  readonly message: string;
}

/** Classifies a failure: by the service's error code first, then by its message, then by the status. */
export function failureKind({ status, words, message }: ServiceError): ModelErrorKind {
  const named = names.find(([pattern]) => pattern.test(words))?.[1];
  if (named !== undefined && isBelievable(named, status)) return named;
  const bySentence = sentences.find(([pattern]) => pattern.test(message))?.[1];
  if (
    bySentence !== undefined &&
    (status === undefined || status === 400 || status === 422 || status === 500)
  )
    return bySentence;
  if (status === undefined) return byType.find(([pattern]) => pattern.test(words))?.[1] ?? 'unavailable';
  return kindByStatus.get(status) ?? (status >= 500 ? 'unavailable' : 'bad_request');
}

type Rule = readonly [RegExp, ModelErrorKind];

/** Codes that say more than the status they come with. */
const names: readonly Rule[] = [
  [/content_filter|content_policy|policy_violation|responsible.?ai|invalid_prompt|bio_policy/i, 'refused'],
  [/context_(length|size|window)|max_prompt_tokens|request_too_large|prompt_too_long/i, 'context_too_long'],
  [/insufficient_(quota|balance|credits)|billing/i, 'quota'],
];

/** Messages of services, for answers whose status is only 'bad request'. */
const sentences: readonly Rule[] = [
  [
    /prompt is too long|maximum context length|(exceeds?|larger than) (the )?(available |model'?s? |maximum )*context|context (length|window|size) (of|is|exceeded)|input is too long|exceed context limit|token count of \d+ exceeds|too many (input )?tokens|token count \(\d+\) exceeds|maximum (prompt|input) length|(exceeds?|over) the maximum (number of (input )?tokens|(prompt|input) (length|tokens))|reduce the length of the (messages|prompt|input)/i,
    'context_too_long',
  ],
  [/credit balance is too low|insufficient (credits|balance)/i, 'quota'],
  [/content (management|filtering) polic(y|ies)|flagged as potentially violating/i, 'refused'],
];

/** What the types of failures mean that are reported without a status. */
const byType: readonly Rule[] = [
  [/quota/i, 'quota'],
  [/rate.?limit|too.?many/i, 'rate_limit'],
  [/auth|permission|api.?key/i, 'auth'],
  [/timeout|timed.?out/i, 'timeout'],
  [/invalid|bad.?request|not.?found/i, 'bad_request'],
];

const kindByStatus: ReadonlyMap<number, ModelErrorKind> = new Map([
  [401, 'auth'],
  [402, 'quota'],
  [403, 'auth'],
  [408, 'timeout'],
  [413, 'context_too_long'],
  [425, 'unavailable'],
  [429, 'rate_limit'],
  [504, 'timeout'],
]);

/** A 401 always means a wrong key, and a 429 can hide nothing but an exhausted quota. */
function isBelievable(kind: ModelErrorKind, status: number | undefined): boolean {
  if (status === 401) return false;
  return status !== 429 || kind === 'quota';
}
