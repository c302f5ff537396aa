import type { Runtime, Session } from '@groundcrew/runtime';
import { Refusal, SessionNotFound } from './failure.js';

/** The live session that a request names; throws 'not found' where there is none. */
export function findSession(runtime: Runtime, sessionId = '', method?: string): Session {
  if (method === 'session.send' && sessionId === '')
    throw new Refusal('Missing sessionId in session.send request');
  const session = runtime.find(sessionId);
  if (session) return session;
  const known = method === 'session.getMessages' ? 'Session not found' : 'Session not found for sessionId';
  throw new SessionNotFound(`${known}: ${sessionId}`);
}
