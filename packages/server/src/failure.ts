import { errorCodes, failureCodes } from '@groundcrew/protocol';
import type { ErrorObject } from '@groundcrew/rpc';
import { requestFailure } from '@groundcrew/runtime';

/** The words in which every failing request is answered. */
export function describeFailedRequest(method: string, error: unknown): ErrorObject {
  if (error instanceof CodedRefusal) {
    const { message, code } = error;
    return { code: errorCodes.requestFailed, message: failedText(method, message), data: { code } };
  }
  const failure = requestFailure(error);
  const code = codes.find(([kind]) => error instanceof kind)?.[1] ?? failure.code;
  return {
    code: errorCodes.requestFailed,
    message: failedText(method, failure.message),
    ...(code && { data: { code, retryable: failureCodes[code].retryable } }),
  };
}

export function failedText(method: string, detail: string): string {
  return `Request ${method} failed with message: ${detail}`;
}

/** What a schema found wrong; of a value that may be one of several things, what each of them misses. */
interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
  readonly errors?: readonly (readonly Issue[])[];
}

/** Everything that is wrong with parameters, each with its place. */
export function describeIssues(issues: readonly Issue[], place: readonly PropertyKey[] = []): string {
  return issues.map((issue) => describeIssue(issue, [...place, ...issue.path])).join('; ');
}

function describeIssue({ message, errors = [] }: Issue, place: readonly PropertyKey[]): string {
  if (errors.length === 0) return `${place.map(String).join('.') || 'params'}: ${message}`;
  return errors.map((alternative) => describeIssues(alternative, place)).join(', or ');
}

/** A request that cannot be done, in the words clients know; the name of its method is put before them. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** A refusal that some clients know by a code of their own. */
export class CodedRefusal extends Error {
  override readonly name = 'CodedRefusal';

  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** The session that a request names is not open. */
export class SessionNotFound extends Error {
  override readonly name = 'SessionNotFound';
}

/** The tenant has used up what it may. */
export class QuotaExceeded extends Error {
  override readonly name = 'QuotaExceeded';
}

const codes = [
  [SessionNotFound, 'session_not_found'],
  [QuotaExceeded, 'quota_exceeded'],
] as const;
