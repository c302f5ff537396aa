import { FramingError } from './errors.js';
import type { Message, RequestId } from './message.js';
import { beginningBytes, refusedMessage } from './oversized.js';
import { parseSlowly, type SlowOptions, tooDeep } from './parse-slowly.js';

/**
 * The one place where a peer's text becomes a message; throws FramingError for anything else. A request that passes a bound is
 * one that can be refused, and no reason to end the stream.
 */
export function parseMessage(json: string): Message {
  if (json.length > 2 * maxDepth && nestsTooDeep(json))
    return refusedMessage(json.slice(0, beginningBytes), tooDeep(maxDepth));
  const message = messageOf(parseJson(json));
  return isTooLarge(message) ? { ...message, id: wholeId(json, message.id) } : message;
}

/** The same of a large message, in small steps between which others have their turn. */
export async function parseLargeMessage(bytes: Buffer, options: SlowOptions = {}): Promise<Message> {
  try {
    return messageOf(await parseSlowly(bytes, maxDepth, options));
  } catch (error) {
    const isBound =
      error instanceof FramingError && (error.kind === 'too_large' || error.kind === 'too_deep');
    if (!isBound) throw error;
    return refusedMessage(bytes.toString('latin1', 0, beginningBytes), error);
  }
}

function messageOf(value: unknown): Message {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FramingError(
      'message',
      `Invalid message: got ${nameOf(value)}, expected one JSON object; batches are not supported`,
    );
  }
  const flaw = findFlaw(value);
  if (flaw !== undefined) {
    throw new FramingError('message', `Invalid message: ${flaw}`, isRequestId(value) ? value.id : null);
  }
  return value as Message; // findFlaw has looked at every field but `params`, `result` and `data`, which are unknown
}

/** No honest message comes near it, and every walk over a message stays far from the end of the stack. */
const maxDepth = 512;

const shapes = 'expected `method`, or `id` with `result` or `error`';

interface Candidate {
  readonly jsonrpc?: unknown;
  readonly id?: unknown;
  readonly method?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

/** A peer that leaves out `jsonrpc` is understood; one that speaks another version is not. */
function findFlaw(value: Candidate): string | undefined {
  if (value.jsonrpc !== '2.0' && value.jsonrpc !== undefined) return '`jsonrpc` must be "2.0"';
  if (value.id !== undefined && !isRequestId(value)) return '`id` must be a string, a number or null';
  if (value.method !== undefined)
    return typeof value.method === 'string' ? undefined : '`method` must be a string';
  if (value.id === undefined) return shapes;
  if (value.error === undefined || value.error === null) {
    return value.result === undefined ? shapes : undefined;
  }
  return isErrorObject(value.error) ? undefined : '`error` must have a number `code` and a string `message`';
}

/** An id that a `number` cannot distinguish from its neighbours. */
function isTooLarge(message: Message): message is Message & { readonly id: number } {
  return 'id' in message && typeof message.id === 'number' && Math.abs(message.id) > Number.MAX_SAFE_INTEGER;
}

/** Such an id with all its digits, as the text has them; one that is no whole number stays as it was read. */
function wholeId(json: string, id: number): RequestId {
  const written = [...json.matchAll(/"id"\s*:\s*(-?\d+)\s*[,}]/g)].map(([, digits = '']) => digits);
  const digits = written.find((each) => Number(each) === id);
  return digits === undefined ? id : BigInt(digits);
}

function isRequestId(value: Candidate): value is { readonly id: RequestId } {
  return ['number', 'string', 'bigint'].includes(typeof value.id) || value.id === null;
}

function isErrorObject(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  return (
    'code' in error &&
    typeof error.code === 'number' &&
    'message' in error &&
    typeof error.message === 'string'
  );
}

function parseJson(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    throw new FramingError('json', `Parse error: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function nameOf(value: unknown): string {
  if (Array.isArray(value)) return 'an array';
  return value === null ? 'null' : `a ${typeof value}`;
}

/** Counts brackets outside strings; the JSON need not be valid, for it is parsed afterwards. */
function nestsTooDeep(json: string): boolean {
  let depth = 0;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (code === quote) index = endOfString(json, index);
    else if (code === openBrace || code === openBracket) depth += 1;
    else if (code === closeBrace || code === closeBracket) depth -= 1;
    if (depth > maxDepth) return true;
  }
  return false;
}

function endOfString(json: string, start: number): number {
  let end = json.indexOf('"', start + 1);
  while (end !== -1 && isEscaped(json, end)) end = json.indexOf('"', end + 1);
  return end === -1 ? json.length : end;
}

function isEscaped(json: string, index: number): boolean {
  let first = index;
  while (json.charCodeAt(first - 1) === backslash) first -= 1;
  return (index - first) % 2 === 1;
}

const quote = 0x22;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
