import type { JsonObject } from '@groundcrew/protocol';
import type { Age } from './client-age.js';

/** The name that a method has now, for those that clients of some ages know by another. */
export function currentName(name: string): string {
  return name
    .replace(/^session\.workspace\./, 'session.workspaces.')
    .replace(/^session\.auth\./, 'session.gitHubAuth.')
    .replace(/^session\.compaction\.compact$/, 'session.history.compact')
    .replace(/^session\.canvas\.invokeAction$/, 'session.canvas.action.invoke');
}

/** A request that is about to be answered. */
export interface AnsweredRequest {
  readonly method: string;
  readonly params: unknown;
}

/** The answer to a request as a client of this age can read it; most are as they are. */
export function answerFor(age: Age, request: AnsweredRequest, result: unknown): unknown {
  if (age !== 'oldest' || !Object.hasOwn(rewrites, request.method)) return result;
  return rewrites[request.method]?.(result, request.params as JsonObject);
}

/** Clients before 0.3.0 read every answer as an object. */
const rewrites: Readonly<Record<string, (result: unknown, params: JsonObject) => unknown>> = {
  'session.mode.get': (mode) => ({ mode }),
  'session.mode.set': (result, { mode }) => ({ ...(result as object), mode }),
  'session.plan.delete': () => ({}),
  'session.plan.update': () => ({}),
  'session.workspaces.createFile': () => ({}),
};
