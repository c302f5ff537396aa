import { errorCodes } from '@groundcrew/protocol';
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
  'session.tools.handlePendingToolCall': 32 * mebibyte,
  'session.workspaces.createFile': 32 * mebibyte,
  'session.workspaces.saveLargePaste': 32 * mebibyte,
  'llmInference.httpResponseStart': 32 * mebibyte,
  'llmInference.httpResponseChunk': 32 * mebibyte,
};

function megabytes(bytes: number): string {
  return (bytes / mebibyte).toFixed(1).replace(/\.0$/, '');
}
