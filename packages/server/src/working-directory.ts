import { resolve } from 'node:path';
import { directoryContext, type Session } from '@groundcrew/runtime';
import type { SessionContext } from '@groundcrew/store';

/** Where a session would work in a directory that a client names; throws NoSuchDirectory. */
export async function contextIn(session: Session, directory: string): Promise<SessionContext> {
  const { context } = await session.state();
  return directoryContext(resolve(context.cwd, directory));
}
