import { resolve } from 'node:path';
import { directoryContext, type Session } from '@groundcrew/runtime';
import type { SessionContext } from '@groundcrew/store';
import { Refusal } from './failure.js';

/** Where a session would work in a directory that a client names; throws Refusal. */
export async function contextIn(session: Session, directory: string): Promise<SessionContext> {
  const { context } = await session.state();
  try {
    return directoryContext(resolve(context.cwd, directory));
  } catch (error) {
    // Elsewhere the same is said of a session that is being made.
    throw error instanceof Error ? new Refusal(error.message) : error;
  }
}
