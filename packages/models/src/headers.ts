import type { Environment } from '@groundcrew/http-client';
import { ModelError } from './errors.js';

export type Headers = Readonly<Record<string, string>>;

/** By which a service knows who asks. */
const authentication = new Set(['api-key', 'authorization', 'x-api-key']);

/** What the extra headers of one call may not touch. */
const reserved = new Set(['anthropic-version', 'content-type', ...authentication]);

/** Headers of the connection, which no configuration may set. */
const framing = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Headers whose values are no secret, and may stand in an error message. */
const open = new Set([
  'accept',
  'anthropic-version',
  'content-type',
  'copilot-harness-id',
  'copilot-integration-id',
  'editor-version',
  'openai-intent',
  'traceparent',
  'tracestate',
  'user-agent',
  'x-client-session-id',
  'x-github-api-version',
  'x-initiator',
  'x-interaction-id',
  'x-interaction-type',
]);

/** Checks names and values, and writes the names in lower case; a header that cannot be sent is a mistake to report. */
export function checkedHeaders(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => checked(name, value)));
}

/** The headers of a service and those of one call, which replace neither authentication nor framing. */
export function mergedHeaders(base: Headers, extra: Headers | undefined): Headers {
  if (extra === undefined) return base;
  const allowed = Object.entries(extra).filter(([name]) => {
    const lower = name.toLowerCase();
    return !reserved.has(lower) && !framing.has(lower);
  });
  return { ...base, ...checkedHeaders(Object.fromEntries(allowed)) };
}

/** Of headers with checked names, those that a call never goes without. */
export function authenticationAmong(headers: Headers): Headers {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => authentication.has(name)));
}

/** Replaces `${NAME}` and `${NAME:-default}` by what the variables say; one that is not among them counts as not set. */
export function expandVariables(
  text: string,
  variables: Environment,
  { advice = '' }: { readonly advice?: string } = {},
): string {
  // What is not closed names nothing: each beginning in it would be followed to the end.
  const end = text.lastIndexOf('}') + 1;
  const meaning = (_: string, name: string, fallback?: string) => {
    const known = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = fallback === undefined ? known : known || fallback;
    if (value !== undefined) return value;
    throw new ModelError('configuration', `The environment variable ${name} is not set${advice}`);
  };
  const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;
  return text.slice(0, end).replace(reference, meaning) + text.slice(end);
}

/** The values of headers that may be secret, with and without their scheme. */
export function secretsInHeaders(headers: Headers): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) =>
    open.has(name) ? [] : [value, value.replace(/^\S+ /, '')],
  );
}

function checked(name: string, value: string): [string, string] {
  const lower = name.toLowerCase();
  if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(lower))
    throw new ModelError('configuration', `${JSON.stringify(name)} is no name for a header`);
  if (framing.has(lower)) throw new ModelError('configuration', `The header ${lower} cannot be set`);
  if (typeof value !== 'string' || !/^[\t\x20-\x7e\x80-\xff]*$/.test(value))
    throw new ModelError(
      'configuration',
      `The value of the header ${lower} has characters that cannot be sent`,
    );
  return [lower, value.trim()];
}
