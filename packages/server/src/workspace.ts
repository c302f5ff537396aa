import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';

/** What is known of a session's workspace, under the names that clients know. */
export async function describeWorkspace(
  session: Session,
): Promise<Result<Methods['session.workspaces.getWorkspace']>['workspace']> {
  const facts = await session.hosting.facts(await session.state());
  return facts && { ...facts, summary_count: (await session.workspace.checkpoints.list()).length };
}
