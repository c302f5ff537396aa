import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';

/** What is known of a session's workspace, under the names that clients know. */
export async function describeWorkspace(
  session: Session,
): Promise<Result<Methods['session.workspaces.getWorkspace']>['workspace']> {
  return session.hosting.facts(await session.state());
}
