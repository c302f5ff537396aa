import { ErrorCode, type FramingError } from './errors.js';
import type { ErrorObject, Message, RequestId } from './message.js';

/** Stands for the parameters of a request that was too large to be kept, or nests too deep. */
export class Oversized {
  constructor(readonly refusal: ErrorObject) {}
}

/** The part of a body that shows which request it was. */
export const beginningBytes = 4096;

/**
 * A message that is not read because it passes a bound, as far as its beginning shows what it was: a request is answered with
 * the fault, an answer has failed. Throws the fault when it cannot be known.
 */
export function refusedMessage(beginning: string, fault: FramingError): Message {
  const [head = ''] = beginning.split(/"(?:params|result|error)"\s*:/, 1);
  const [, method] = /"method"\s*:\s*("(?:[^"\\]|\\.)*")/.exec(head) ?? [];
  const [, id] = /"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d{1,15})\s*[,}]/.exec(head) ?? [];
  if (head === beginning || (id === undefined && method === undefined)) throw fault;
  const { message, kind } = fault;
  const error: ErrorObject = { code: ErrorCode.invalidRequest, message, data: { code: kind } };
  const params = new Oversized(error);
  const called = method === undefined ? undefined : (JSON.parse(method) as string); // matched as a string
  if (id === undefined) return { jsonrpc: '2.0', method: called ?? '', params };
  const knownId = JSON.parse(id) as RequestId; // matched as a string or a number
  if (called === undefined) return { jsonrpc: '2.0', id: knownId, error };
  return { jsonrpc: '2.0', id: knownId, method: called, params };
}
