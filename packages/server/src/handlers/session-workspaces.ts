import type { Methods } from '@groundcrew/protocol';
import { findSession } from '../find.js';
import type { Handlers } from '../handler.js';
import { describeWorkspace } from '../workspace.js';

type Names =
  | 'session.workspaces.createFile'
  | 'session.workspaces.getWorkspace'
  | 'session.workspaces.listFiles'
  | 'session.workspaces.readFile';

export const sessionWorkspacesHandlers: Handlers<Pick<Methods, Names>> = {
  async 'session.workspaces.getWorkspace'({ sessionId }, context) {
    const session = findSession('session.workspaces.getWorkspace', sessionId, context);
    if (!session.hasWorkspaceIn(await session.state())) return { workspace: null };
    return { workspace: await describeWorkspace(session), path: session.workspace.directory };
  },
  async 'session.workspaces.listFiles'({ sessionId }, context) {
    return {
      files: await findSession('session.workspaces.listFiles', sessionId, context).workspace.listFiles(),
    };
  },
  async 'session.workspaces.readFile'({ sessionId, path }, context) {
    return {
      content: await findSession('session.workspaces.readFile', sessionId, context).workspace.readFile(path),
    };
  },
  async 'session.workspaces.createFile'({ sessionId, path, content }, context) {
    const session = findSession('session.workspaces.createFile', sessionId, context);
    const operation = await session.workspace.writeFile(path, content);
    await session.record({ type: 'session.workspace_file_changed', data: { path, operation } });
    return null;
  },
};
