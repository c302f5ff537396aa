import { errorCodes, isObject } from '@groundcrew/protocol';
import { RpcError } from '@groundcrew/rpc';
import { failedText } from './failure.js';

/** Throws when a request is larger than its method has use for: to check and to store it would hold up everybody else. */
export function requireSize(method: string, bytes: number): void {
  const most = Object.hasOwn(larger, method) ? (larger[method] ?? usual) : usual;
  if (bytes <= most) return;
  const text = `the request has ${megabytes(bytes)} MB; at most ${megabytes(most)} MB are accepted`;
  throw new RpcError(errorCodes.invalidParams, failedText(method, text));
}

const mebibyte = 1024 * 1024;
const usual = 4 * mebibyte;

/** What carries files, results of tools or answers of models. */
const larger: Readonly<Record<string, number>> = {
  'session.send': 32 * mebibyte,
  'session.sendAndWait': 32 * mebibyte,
  'session.sendMessages': 32 * mebibyte,
  'session.queue.insertAt': 32 * mebibyte,
  'session.queue.appendSteering': 32 * mebibyte,
  'session.tools.handlePendingToolCall': 32 * mebibyte,
  'session.workspaces.createFile': 32 * mebibyte,
  'session.workspaces.saveLargePaste': 32 * mebibyte,
  'llmInference.httpResponseStart': 32 * mebibyte,
  'llmInference.httpResponseChunk': 32 * mebibyte,
};

/**
 * Throws when a request has more values than its method has use for: each is checked, looked up in tables and stored, so
 * a few megabytes of small ones hold up everybody else. What describes tools may have many, and they are passed on as they are.
 */
export function requireValues(method: string, params: unknown): void {
  if (Object.hasOwn(larger, method) && !ofPrompts.test(method)) return;
  const most = mostOf(method);
  const isOfSchemas = (name: string) => schemaFields.has(name);
  const schemas = isObject(params) ? [...schemaFields].map((name) => params[name]) : [];
  const each = schemas.flat();
  const isTooMuch =
    isWide(params) ||
    each.some(isWide) ||
    hasMore(params, most, { isApart: isOfSchemas, isNarrow: ofOptions.test(method) }) ||
    hasMore(schemas, mostOfSchemas) ||
    each.some((one) => hasMore(one, mostOfOne));
  if (!isTooMuch) return;
  const bounds = `at most ${most} are accepted, ${mostNames} in one object, and ${mostOfSchemas} in schemas of tools, ${mostOfOne} in each`;
  throw new RpcError(
    errorCodes.invalidParams,
    failedText(method, `the request has too many values; ${bounds}`),
  );
}

function mostOf(method: string): number {
  if (method.startsWith('session.permissions.')) return mostOfRules;
  return ofOptions.test(method) ? mostOptions : mostValues;
}

/** What opens a session, changes it or gives it a prompt. */
const ofOptions =
  /^sessions?\.(?:create|resume|open|send|sendAndWait|options\.update|provider\.\w+|model\.switchTo)$/;
const ofPrompts = /^session\.(?:send(?:AndWait|Messages)?|queue\.\w+)$/;
/** Fields that describe tools and answers. */
const schemaFields: ReadonlySet<string> = new Set(['tools', 'output', 'responseFormat']);
const mostOptions = 15_000;
const mostValues = 50_000;
/** Rules have a bound of their own, which says more; this one is far above it. */
const mostOfRules = 65_000;
const mostOfSchemas = 90_000;
/** Hundreds of tools have many values between them; a single one that has takes longer than all of those. */
const mostOfOne = 20_000;

/** Fields by name of one object: no option has so many, and each takes as long as a hundred entries of a list. */
const mostNames = 2000;

/**
 * Whether there are more than so many values, or, where all has to be narrow, an object with too many names; no further than
 * that is looked, and not into fields of the root that are apart.
 */
function hasMore(
  root: unknown,
  most: number,
  { isApart, isNarrow }: { readonly isApart?: (name: string) => boolean; readonly isNarrow?: boolean } = {},
): boolean {
  const waiting: unknown[] = [root];
  let count = 0;
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value !== 'object' || value === null) continue;
    if (isNarrow && isWide(value)) return true;
    // Names of a large object are not copied: one too many, and no more of them are read.
    for (const name in value) {
      count += 1;
      if (count > most) return true;
      const inside = (value as Readonly<Record<string, unknown>>)[name];
      if (typeof inside === 'object' && !(value === root && isApart?.(name))) waiting.push(inside);
    }
  }
  return false;
}

function isWide(value: unknown): boolean {
  if (!isObject(value)) return false;
  let count = 0;
  for (const _ in value) {
    count += 1;
    if (count > mostNames) return true;
  }
  return false;
}

function megabytes(bytes: number): string {
  return (bytes / mebibyte).toFixed(1).replace(/\.0$/, '');
}
