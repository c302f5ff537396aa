import type { Methods, Result } from '@groundcrew/protocol';
import type { Session } from '@groundcrew/runtime';

/** What is known of a session's workspace, under the names that clients know. */
export async function describeWorkspace(
  session: Session,
): Promise<Result<Methods['session.workspaces.getWorkspace']>['workspace']> {
  const state = await session.state();
  const { cwd, gitRoot, repository, branch } = state.context;
  const name = state.fixed.name ?? state.summary;
  return {
    id: session.sessionId,
    cwd,
    ...(gitRoot !== undefined && { git_root: gitRoot }),
    ...(repository !== undefined && { repository }),
    ...(branch !== undefined && { branch }),
    ...(name !== undefined && { name }),
    client_name: session.currentSettings.clientName,
    user_named: state.fixed.isNamedByUser ?? false,
    created_at: state.createdAt,
    updated_at: state.modifiedAt,
  };
}
